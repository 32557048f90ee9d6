import { createHash, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { inGroups } from '../groups.ts'
import { bool, bytes, float, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

const mostKeysInGroup = 100

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
// Requests that arrive together share a look-up that begins after them.
const projectsBySecretKey = statement('projects-by-secret-key', {
	params: { digests: bytes.array },
	row: { ...projectOfKeyColumns, digest: bytes },
	text: `select ${projectColumns('p')}, p.secret_key_digest as digest
	from projects p where secret_key_digest = any(array(select unnest($digests::bytea[])))`,
})
export const projectByPublicKey = statement('project-by-public-key', {
	params: { publicKey: text },
	row: projectOfKeyColumns,
	text: `select ${projectColumns('p')} from projects p where public_key = $publicKey`,
})

/** In a transaction: the key is valid until its end. No row: it was replaced. */
export const lockProjectOfKey = statement('lock-project-of-key', {
	params: { digest: bytes },
	row: { id: uuid },
	text: `select id from projects where secret_key_digest = $digest for no key update`,
})

/** Looks projects up by their secret keys; undefined: no project has this key. */
export function projectsOfSecretKeys(pool: Pool) {
	const together = inGroups({
		async work(_, keys: string[]): Promise<(ProjectOfKey | undefined)[]> {
			const digests = new Map([...new Set(keys)].map((key) => [key, keyDigest(key)]))
			const rows = await projectsBySecretKey(pool, { digests: [...digests.values()] })
			const found = new Map(rows.map(({ digest, ...project }) => [digest.toString('hex'), project]))
			return keys.map((key) => found.get(digests.get(key)!.toString('hex')))
		},
		atOnce: 2,
		mostItems: mostKeysInGroup,
	})
	return (key: string) => together('', key)
}
