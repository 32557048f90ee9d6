import { defineEntity, p } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import { createdAt, id, updatedAt } from '../columns.ts'
import { bool, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

const schema = defineEntity({
	name: 'User',
	tableName: 'users',
	properties: {
		id: id(),
		email: p.text().unique(),
		/** A PHC string of argon2id; null for users who log in only by OAuth. */
		passwordHash: p.text().nullable(),
		emailVerifiedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class User extends schema.class {}
schema.setClass(User)

export const accountColumns = {
	id: uuid,
	email: text,
	passwordHash: text.orNull,
	emailVerified: bool,
}
export type Account = RowOf<typeof accountColumns>

export const accountByEmail = statement('account-by-email', {
	params: { email: text },
	row: accountColumns,
	text: `select id, email, password_hash as "passwordHash", email_verified_at is not null as "emailVerified"
	from users where email = $email`,
})

/** No row: the address is already registered. */
export const createAccount = statement('create-account', {
	params: { email: text, passwordHash: text.orNull, isVerified: bool },
	row: { id: uuid },
	text: `insert into users (email, password_hash, email_verified_at)
	values ($email, $passwordHash::text, case when $isVerified::bool then now() end)
	on conflict (email) do nothing returning id`,
})

/**
 * The user has proved their address, so their projects may send. In a transaction: creating a project
 * takes a share lock on the user's row, so either it is seen here or it sees this change.
 */
export async function confirmAddress(db: PoolClient, userId: string) {
	await markVerified(db, { userId })
	await releaseProjects(db, { userId })
}

const markVerified = statement('mark-verified', {
	params: { userId: uuid },
	text: `update users set email_verified_at = coalesce(email_verified_at, now()), updated_at = now()
	where id = $userId`,
})
const releaseProjects = statement('release-projects', {
	params: { userId: uuid },
	text: `update projects p set owner_verified = true, updated_at = now()
	from memberships m
	where m.user_id = $userId and m.role = 'OWNER' and p.id = m.project_id and not p.owner_verified`,
})

/**
 * Ends all the user's sessions and deletes all mailed links that could set another password. Call it only
 * with the user's row locked: then it sees every session opened before.
 */
export const replacePassword = statement('replace-password', {
	params: { userId: uuid, passwordHash: text.orNull },
	text: `with sessions_gone as (
		delete from sessions where user_id = $userId
	), links_gone as (
		delete from account_tokens where user_id = $userId and purpose = 'RESET_PASSWORD'
	), identities_gone as (
		delete from oauth_identities where user_id = $userId
	)
	update users set password_hash = $passwordHash::text, updated_at = now() where id = $userId`,
})
