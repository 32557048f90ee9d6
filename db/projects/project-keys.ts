import { createHash, randomBytes } from 'node:crypto'
import { bool, bytes, float, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** Secret keys are stored and looked up only in this form. */
export const keyDigest = (key: string) => createHash('sha256').update(key).digest()

/** Two new keys, and what the project's row stores of them. */
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

/** The project of a request's key or session. */
export const projectOfKeyColumns = {
	/** The id of its data. */
	id: uuid,
	/** The id of the project in the API. */
	publicId: uuid.notNull('it goes with the keys when a project is removed'),
	name: text,
	language: text,
	postalAddress: text.orNull,
	disabledReason: text.orNull,
	/** null: the setting SEND_RATE_PER_SECOND; 0: unlimited. */
	sendRatePerSecond: float.orNull,
	tracking: text,
	ownerVerified: bool,
	secretKeyEnding: text,
}
export type ProjectOfKey = RowOf<typeof projectOfKeyColumns>

export const projectColumns = (of: string) => `${of}.id, ${of}.public_id as "publicId", ${of}.name,
	${of}.language, ${of}.postal_address as "postalAddress", ${of}.disabled_reason as "disabledReason",
	${of}.send_rate_per_second as "sendRatePerSecond", ${of}.tracking,
	${of}.owner_verified as "ownerVerified", ${of}.secret_key_ending as "secretKeyEnding"`

// Asked for every request and never cached, so that a replaced key stops working at once, everywhere.
export const projectBySecretKeyDigest = statement('project-by-secret-key', {
	params: { digest: bytes },
	row: projectOfKeyColumns,
	text: `select ${projectColumns('p')} from projects p where secret_key_digest = $digest`,
})
export const projectByPublicKey = statement('project-by-public-key', {
	params: { publicKey: text },
	row: projectOfKeyColumns,
	text: `select ${projectColumns('p')} from projects p where public_key = $publicKey`,
})
