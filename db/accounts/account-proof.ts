import type { PoolClient } from 'pg'
import { newKeys } from '../projects/project-keys.ts'
import { forgetWebhookSecrets } from '../projects/webhook-secret.ts'
import { statement } from '../statement.ts'
import { type Account, confirmAddress, createAccount, replacePassword } from './user.ts'

const columns = `id, email, password_hash as "passwordHash", email_verified_at is not null as "emailVerified"`

/** In a transaction: what it answers stays so. $1 normalized address */
export const lockAccount = statement<Account>(
	'lock-account-by-email',
	`select ${columns} from users where email = $1 for no key update`,
)
const lockAccountById = statement<Account>(
	'lock-account-by-id',
	`select ${columns} from users where id = $1 for no key update`,
)

/** What changed because an address was proved only now. */
export interface Secured {
	email: string
	userId: string
	/** Their keys are new. */
	projects: { publicId: string; name: string }[]
	/** The addresses of members who were removed. */
	members: string[]
}

/**
 * The account of whoever has just proved that an address is theirs, made where there is none. The hash
 * is that of the password that they chose, null for none.
 */
export async function accountOfReader(
	db: PoolClient,
	email: string,
	hash: string | null,
): Promise<{ userId: string; secured: Secured | null }> {
	const [made] = await createAccount(db, [email, hash, true])
	if (made) return { userId: made.id, secured: null }
	const [known] = await lockAccount(db, [email])
	const { id: userId, emailVerified } = known!
	return { userId, secured: emailVerified ? null : await takeOver(db, known!, hash) }
}

/** A new password for whoever reads the mail of an account. */
export async function resetPassword(
	db: PoolClient,
	userId: string,
	hash: string,
): Promise<Secured | null> {
	const [account] = await lockAccountById(db, [userId])
	if (!account!.emailVerified) return takeOver(db, account!, hash)
	await replacePassword(db, [userId, hash])
	return null
}

/**
 * Anybody can have signed up with an address. Whoever did so knows the keys of the projects that they
 * made, and the members whom they let in. The projects stay, and become the reader's alone.
 * null: the account has no project.
 */
async function takeOver(
	db: PoolClient,
	{ id: userId, email }: Account,
	hash: string | null,
): Promise<Secured | null> {
	const projectIds = await lockProjects(db, userId)
	await replacePassword(db, [userId, hash])
	// Somebody who is accepting an invitation at this moment is waited for, and removed with the others.
	await withdrawInvitations(db, [projectIds])
	const members = await removeOthers(db, [projectIds, userId])
	const keys = projectIds.map(() => newKeys().columns)
	const projects = await replaceKeysOf(db, [
		projectIds,
		keys.map(({ publicKey }) => publicKey),
		keys.map(({ secretKeyDigest }) => secretKeyDigest),
		keys.map(({ secretKeyEnding }) => secretKeyEnding),
	])
	await forgetWebhookSecrets(db, [projectIds])
	await confirmAddress(db, userId)
	return projects.length > 0
		? { email, userId, projects, members: members.map((member) => member.email).toSorted() }
		: null
}

/**
 * Locks what a user owns, as everybody does who changes members or keys. A reset that was under way has
 * given a project another id: then there is one more to lock.
 */
async function lockProjects(db: PoolClient, userId: string) {
	for (let before = ''; ;) {
		const ids = (await lockOwnProjects(db, [userId])).map(({ id }) => id)
		if (ids.join() === before) return ids
		before = ids.join()
	}
}

/** $1 user */
const lockOwnProjects = statement<{ id: string }>(
	'lock-own-projects',
	`select p.id from memberships m join projects p on p.id = m.project_id
	where m.user_id = $1 and m.role = 'OWNER' order by p.id for no key update of p`,
)

/** $1 projects */
const withdrawInvitations = statement(
	'withdraw-invitations',
	`delete from invitations where project_id = any($1::uuid[])`,
)

/** $1 projects, $2 user who stays */
const removeOthers = statement<{ email: string }>(
	'remove-others',
	`delete from memberships m using users u
	where m.project_id = any($1::uuid[]) and m.user_id <> $2 and u.id = m.user_id
	returning u.email`,
)

/** Nobody knows the new secret keys: the owner makes others. $1 projects, $2 public keys, $3 digests and $4 endings of the secret keys */
const replaceKeysOf = statement<{ publicId: string; name: string }>(
	'replace-keys-of',
	`update projects p set public_key = k.public_key, secret_key_digest = k.digest,
		secret_key_ending = k.ending, updated_at = now()
	from unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[]) as k(id, public_key, digest, ending)
	where p.id = k.id and p.public_id is not null
	returning p.public_id as "publicId", p.name`,
)
