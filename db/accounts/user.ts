import { defineEntity, p } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import { createdAt, id, updatedAt } from '../columns.ts'
import { statement } from '../statement.ts'

const schema = defineEntity({
	name: 'User',
	tableName: 'users',
	properties: {
		id: id(),
		email: p.text().unique(),
		/** A PHC string of argon2id; null for those who only come by OAuth. */
		passwordHash: p.text().nullable(),
		emailVerifiedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class User extends schema.class {}
schema.setClass(User)

export interface Account {
	id: string
	email: string
	passwordHash: string | null
	emailVerified: boolean
}

/** $1 normalized address */
export const accountByEmail = statement<Account>(
	'account-by-email',
	`select id, email, password_hash as "passwordHash", email_verified_at is not null as "emailVerified"
	from users where email = $1`,
)

/** No row: the address is taken. $1 normalized address, $2 password's hash or null, $3 verified */
export const createAccount = statement<{ id: string }>(
	'create-account',
	`insert into users (email, password_hash, email_verified_at)
	values ($1, $2::text, case when $3::bool then now() end)
	on conflict (email) do nothing returning id`,
)

/**
 * The address has proved to be theirs, and their projects may send. In a transaction: whoever creates
 * a project shares a lock on the user's row, and is either seen here or sees this. $1 user
 */
export async function confirmAddress(db: PoolClient, userId: string) {
	await markVerified(db, [userId])
	await releaseProjects(db, [userId])
}

const markVerified = statement(
	'mark-verified',
	`update users set email_verified_at = coalesce(email_verified_at, now()), updated_at = now()
	where id = $1`,
)
const releaseProjects = statement(
	'release-projects',
	`update projects p set owner_verified = true, updated_at = now()
	from memberships m
	where m.user_id = $1 and m.role = 'OWNER' and p.id = m.project_id and not p.owner_verified`,
)

/**
 * Ends every session of theirs, and takes all links in mails that could set another. Only once the
 * user's row is locked: a session opened until then is seen here. $1 user,
 * $2 hash or null
 */
export const replacePassword = statement(
	'replace-password',
	`with sessions_gone as (
		delete from sessions where user_id = $1
	), links_gone as (
		delete from account_tokens where user_id = $1 and purpose = 'RESET_PASSWORD'
	)
	update users set password_hash = $2::text, updated_at = now() where id = $1`,
)
