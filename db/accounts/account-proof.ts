import type { PoolClient } from 'pg'
import { deleteProject } from '../projects/project-removal.ts'
import { statement } from '../statement.ts'
import { type Account, confirmAddress, createAccount, replacePassword } from './user.ts'

const columns = `id, password_hash as "passwordHash", email_verified_at is not null as "emailVerified"`

/** In a transaction: what it answers stays so. $1 normalized address */
export const lockAccount = statement<Account>(
	'lock-account-by-email',
	`select ${columns} from users where email = $1 for no key update`,
)
const lockAccountById = statement<Account>(
	'lock-account-by-id',
	`select ${columns} from users where id = $1 for no key update`,
)

const ownProjects = statement<{ id: string }>(
	'own-projects',
	`select project_id as id from memberships where user_id = $1 and role = 'OWNER' order by project_id`,
)

interface Proof {
	/** Of the password that they have chosen, null for none. */
	hash: string | null
	/** Where projects are removed. */
	taskQueue: string
	/** Then nobody could send before they verified their address: what they have is no more than begun. */
	isMailReal: boolean
}

/**
 * The account of whoever has just proved that an address is theirs, made where there is none. Wake the
 * relay after the transaction.
 */
export async function accountOfReader(db: PoolClient, email: string, proof: Proof) {
	const [made] = await createAccount(db, [email, proof.hash, true])
	if (made) return made.id
	const [known] = await lockAccount(db, [email])
	if (!known!.emailVerified) await takeOver(db, known!.id, proof)
	return known!.id
}

/** A new password for whoever reads the mail of an account. Wake the relay after the transaction. */
export async function resetPassword(db: PoolClient, userId: string, proof: Proof) {
	const [account] = await lockAccountById(db, [userId])
	if (account!.emailVerified) await replacePassword(db, [userId, proof.hash])
	else await takeOver(db, userId, proof)
}

/**
 * Anybody can have signed up with an address. Whoever did has not shown that it is theirs, and knows
 * the keys of the projects that they made and the members whom they let in: where mail leaves in earnest,
 * these projects are deleted as if by them, and no key of theirs ever speaks for the reader of the address.
 */
async function takeOver(db: PoolClient, userId: string, { hash, taskQueue, isMailReal }: Proof) {
	if (isMailReal)
		for (const { id } of await ownProjects(db, [userId])) await deleteProject(db, id, taskQueue)
	await confirmAddress(db, userId)
	await replacePassword(db, [userId, hash])
}
