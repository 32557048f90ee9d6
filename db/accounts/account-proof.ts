import type { PoolClient } from 'pg'
import { secureAutomations } from '../automations/automation-takeover.ts'
import { newKeys } from '../projects/project-keys.ts'
import { forgetWebhookSecrets } from '../projects/webhook-secret.ts'
import { bytes, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { secureEndpoints } from '../webhooks/webhook-takeover.ts'
import {
	accountColumns,
	type Account,
	confirmAddress,
	createAccount,
	replacePassword,
} from './user.ts'

const columns = `id, email, password_hash as "passwordHash", email_verified_at is not null as "emailVerified"`

/** In a transaction, so that the answer stays true until its end. */
export const lockAccount = statement('lock-account-by-email', {
	params: { email: text },
	row: accountColumns,
	text: `select ${columns} from users where email = $email for no key update`,
})
const lockAccountById = statement('lock-account-by-id', {
	params: { userId: uuid },
	row: accountColumns,
	text: `select ${columns} from users where id = $userId for no key update`,
})

/** The consequences of an address that was proved only now. */
export interface Secured {
	email: string
	userId: string
	/** They have new keys. Their webhook endpoints, and workflows that send data elsewhere, are disabled. */
	projects: { publicId: string; name: string }[]
	/** The addresses of removed members. */
	members: string[]
}

/** Needed to secure an account. */
export interface Securing {
	sessionSecret: string
	taskQueue: string
}

/**
 * The account of a person who has just proved an address; created if there is none. The hash is that of
 * the password they chose, null for none.
 */
export async function accountOfReader(
	db: PoolClient,
	email: string,
	hash: string | null,
	securing: Securing,
): Promise<{ userId: string; secured: Secured | null }> {
	const [made] = await createAccount(db, { email, passwordHash: hash, isVerified: true })
	if (made) return { userId: made.id, secured: null }
	const [known] = await lockAccount(db, { email })
	const { id: userId, emailVerified } = known!
	const secured = emailVerified ? null : await takeOver(db, known!, hash, securing)
	return { userId, secured }
}

/** Sets a new password for the reader of the account's mail. */
export async function resetPassword(
	db: PoolClient,
	userId: string,
	hash: string,
	securing: Securing,
): Promise<{ email: string; secured: Secured | null }> {
	const [account] = await lockAccountById(db, { userId })
	const { email, emailVerified } = account!
	if (!emailVerified) return { email, secured: await takeOver(db, account!, hash, securing) }
	await replacePassword(db, { userId, passwordHash: hash })
	return { email, secured: null }
}

/**
 * Anybody can have signed up with an address. The person who did knows the keys of their projects and the
 * members they invited, and may receive data from webhook endpoints and workflows. The projects stay, and become the
 * reader's alone. null: the account has no project.
 */
async function takeOver(
	db: PoolClient,
	{ id: userId, email }: Account,
	hash: string | null,
	{ sessionSecret, taskQueue }: Securing,
): Promise<Secured | null> {
	const projectIds = await lockProjects(db, userId)
	await replacePassword(db, { userId, passwordHash: hash })
	// Waits for an invitation that is being accepted at this moment; its member is removed with the others.
	await withdrawInvitations(db, { projectIds })
	const members = await removeOthers(db, { projectIds, userId })
	const keys = projectIds.map(() => newKeys().columns)
	const projects = await replaceKeysOf(db, {
		projectIds,
		publicKeys: keys.map(({ publicKey }) => publicKey),
		digests: keys.map(({ secretKeyDigest }) => secretKeyDigest),
		endings: keys.map(({ secretKeyEnding }) => secretKeyEnding),
	})
	await forgetWebhookSecrets(db, { projectIds })
	await secureEndpoints(db, projectIds, sessionSecret)
	for (const projectId of projectIds) await secureAutomations(db, { projectId, taskQueue })
	await confirmAddress(db, userId)
	return projects.length > 0
		? { email, userId, projects, members: members.map((member) => member.email).toSorted() }
		: null
}

/**
 * Locks a user's projects, as all changes of members or keys do. If a reset has given a project another id
 * meanwhile, that project is locked too.
 */
async function lockProjects(db: PoolClient, userId: string) {
	for (let before = ''; ;) {
		const ids = (await lockOwnProjects(db, { userId })).map(({ id }) => id)
		if (ids.join() === before) return ids
		before = ids.join()
	}
}

const lockOwnProjects = statement('lock-own-projects', {
	params: { userId: uuid },
	row: { id: uuid },
	text: `select p.id from memberships m join projects p on p.id = m.project_id
	where m.user_id = $userId and m.role = 'OWNER' order by p.id for no key update of p`,
})

const withdrawInvitations = statement('withdraw-invitations', {
	params: { projectIds: uuid.array },
	text: `delete from invitations where project_id = any($projectIds::uuid[])`,
})

const removeOthers = statement('remove-others', {
	params: { projectIds: uuid.array, userId: uuid },
	row: { email: text },
	text: `delete from memberships m using users u
	where m.project_id = any($projectIds::uuid[]) and m.user_id <> $userId and u.id = m.user_id
	returning u.email`,
})

/** The new secret keys are shown to nobody: the owner creates others. */
const replaceKeysOf = statement('replace-keys-of', {
	params: {
		projectIds: uuid.array,
		publicKeys: text.array,
		digests: bytes.array,
		endings: text.array,
	},
	row: { publicId: uuid.notNull('public_id is not null'), name: text },
	text: `update projects p set public_key = k.public_key, secret_key_digest = k.digest,
		secret_key_ending = k.ending, updated_at = now()
	from unnest($projectIds::uuid[], $publicKeys::text[], $digests::bytea[],
		$endings::text[]) as k(id, public_key, digest, ending)
	where p.id = k.id and p.public_id is not null
	returning p.public_id as "publicId", p.name`,
})
