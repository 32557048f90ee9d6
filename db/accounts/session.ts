import { defineEntity, p } from '@mikro-orm/core'
import type { Pool, PoolClient } from 'pg'
import { createdAt, id } from '../columns.ts'
import type { roles } from '../projects/membership.ts'
import { projectOfKeyColumns, projectColumns } from '../projects/project-keys.ts'
import { reference } from '../reference.ts'
import { bool, bytes, float, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { newSecretToken, tokenDigest } from './secret-token.ts'

/** A logged-in user. Deleting the row ends the session, even if its cookie still exists. */
const schema = defineEntity({
	name: 'Session',
	tableName: 'sessions',
	indexes: [{ properties: ['userId'] }, { properties: ['expiresAt'] }],
	properties: {
		id: id(),
		/** SHA-256 of a token, which only the cookie contains. */
		digest: p.blob().$type<Buffer>().unique(),
		userId: p.uuid(),
		expiresAt: p.datetime(3),
		createdAt: createdAt(),
	},
})

export class Session extends schema.class {
	static references = [reference(['userId'], 'users', 'cascade')]
}
schema.setClass(Session)

const insertSession = statement('insert-session', {
	params: { userId: uuid, seconds: float, digest: bytes },
	text: `insert into sessions (user_id, expires_at, digest)
	values ($userId, now() + make_interval(secs => $seconds::float8), $digest::bytea)`,
})

/**
 * No row: the password has changed. The statement locks the user's row: a new password either comes first
 * and is seen here, or comes later and ends this session.
 */
const insertSessionByPassword = statement('insert-session-by-password', {
	params: { userId: uuid, seconds: float, digest: bytes, passwordHash: text.orNull },
	row: { id: uuid },
	text: `insert into sessions (user_id, expires_at, digest)
	select id, now() + make_interval(secs => $seconds::float8), $digest::bytea from users
	where id = $userId and password_hash = $passwordHash::text for share
	returning id`,
})

interface Opening {
	userId: string
	seconds: number
}

/** The token of a session for a person who has just created the account or logged in elsewhere. */
export async function openSession(db: Pool | PoolClient, { userId, seconds }: Opening) {
	const token = newSecretToken()
	await insertSession(db, { userId, seconds, digest: tokenDigest(token) })
	return token
}

/** The token of a session for a person who knew the password. null: the password was replaced. */
export async function openSessionByPassword(
	db: Pool,
	{ userId, seconds }: Opening,
	passwordHash: string | null,
) {
	const token = newSecretToken()
	const values = { userId, seconds, digest: tokenDigest(token), passwordHash }
	const [session] = await insertSessionByPassword(db, values)
	return session ? token : null
}

export interface SessionUser {
	sessionId: string
	id: string
	email: string
	emailVerified: boolean
}

export type Role = (typeof roles)[number]

/** The user and their role in the project; null if they have none. */
export type SessionCaller = RowOf<typeof sessionCaller>

/** Asked for every request, so that a revocation takes effect at once. */
export const sessionCaller = statement('session-caller', {
	params: { digest: bytes, publicId: uuid.orNull },
	row: {
		user_sessionId: uuid,
		user_id: uuid,
		user_email: text,
		user_emailVerified: bool,
		role: text.of<Role>().orNull,
		...projectOfKeyColumns,
	},
	text: `select s.id as "user_sessionId", u.id as "user_id", u.email as "user_email",
		u.email_verified_at is not null as "user_emailVerified", m.role, ${projectColumns('p')}
	from sessions s
	join users u on u.id = s.user_id
	left join (memberships m join projects p on p.id = m.project_id)
		on p.public_id = $publicId::uuid and m.user_id = u.id
	where s.digest = $digest and s.expires_at > now()`,
})

/**
 * In a transaction: session and role stay until it ends. Like everywhere, the project is locked first. No
 * row: the session or the role has ended.
 */
const lockMembership = (name: string, roles: string) =>
	statement(name, {
		params: { sessionId: uuid, publicId: uuid },
		row: { id: uuid, role: text.of<Role>() },
		text: `select p.id, m.role
		from sessions s
		join memberships m on m.user_id = s.user_id ${roles}
		join projects p on p.id = m.project_id
		where s.id = $sessionId and p.public_id = $publicId::uuid
		for no key update of p for share of s, m`,
	})

export const lockMember = lockMembership('lock-member', '')
export const lockAdministrator = lockMembership('lock-administrator', `and m.role <> 'MEMBER'`)

export const closeSession = statement('close-session', {
	params: { digest: bytes },
	text: 'delete from sessions where digest = $digest',
})
