import { createHash, randomBytes } from 'node:crypto'
import { statement } from '../statement.ts'

/** The only form in which a secret key is stored or looked up. */
export const keyDigest = (key: string) => createHash('sha256').update(key).digest()

/** Two fresh keys and what the project's row remembers of them. */
export function newKeys() {
	const publicKey = `pk_${randomBytes(32).toString('hex')}`
	const secretKey = `sk_${randomBytes(32).toString('hex')}`
	return {
		secretKey,
		columns: {
			publicKey,
			secretKeyDigest: keyDigest(secretKey),
			secretKeyEnding: secretKey.slice(-4),
		},
	}
}

/** What a request knows of the project whose key or session it carries. */
export interface ProjectOfKey {
	/** Of its data. */
	id: string
	/** Of the project, as the API shows and takes it. */
	publicId: string
	name: string
	language: string
	postalAddress: string | null
	disabledReason: string | null
	/** null: the setting SEND_RATE_PER_SECOND; 0: unlimited. */
	sendRatePerSecond: number | null
	tracking: string
	ownerVerified: boolean
	secretKeyEnding: string
}

export const projectColumns = (of: string) => `${of}.id, ${of}.public_id as "publicId", ${of}.name,
	${of}.language, ${of}.postal_address as "postalAddress", ${of}.disabled_reason as "disabledReason",
	${of}.send_rate_per_second as "sendRatePerSecond", ${of}.tracking,
	${of}.owner_verified as "ownerVerified", ${of}.secret_key_ending as "secretKeyEnding"`

// Asked once for each request and never remembered: a regenerated key is dead at once, everywhere.
export const projectBySecretKeyDigest = statement<ProjectOfKey>(
	'project-by-secret-key',
	`select ${projectColumns('p')} from projects p where secret_key_digest = $1`,
)
export const projectByPublicKey = statement<ProjectOfKey>(
	'project-by-public-key',
	`select ${projectColumns('p')} from projects p where public_key = $1`,
)
