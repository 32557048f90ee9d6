import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id } from '../columns.ts'
import type { roles } from '../projects/membership.ts'
import { projectColumns, type ProjectOfKey } from '../projects/project-keys.ts'
import { statement } from '../statement.ts'

/** Somebody who is logged in. Deleting the row ends it, whatever cookie is still about. */
const schema = defineEntity({
	name: 'Session',
	tableName: 'sessions',
	indexes: [{ properties: ['userId'] }, { properties: ['expiresAt'] }],
	properties: {
		id: id(),
		userId: p.uuid(),
		expiresAt: p.datetime(3),
		createdAt: createdAt(),
	},
})

export class Session extends schema.class {}
schema.setClass(Session)

/** For who has just made the account, or has come by another one that is theirs. $1 user, $2 seconds */
export const openSession = statement<{ id: string }>(
	'open-session',
	`insert into sessions (user_id, expires_at) values ($1, now() + make_interval(secs => $2::float8))
	returning id`,
)

/**
 * For who knew the password. No row: it is another one by now. The lock on the user's row: a new password
 * comes before this, and this sees it, or after it, and ends this session. $1 user, $2 seconds, $3 hash
 */
export const openSessionByPassword = statement<{ id: string }>(
	'open-session-by-password',
	`insert into sessions (user_id, expires_at)
	select id, now() + make_interval(secs => $2::float8) from users
	where id = $1 and password_hash = $3::text for share
	returning id`,
)

export interface SessionUser {
	sessionId: string
	id: string
	email: string
	emailVerified: boolean
}

export type Role = (typeof roles)[number]

/** The user, and what the project means to them: null where there is none of theirs. */
export type SessionCaller = { [K in keyof SessionUser as `user_${K}`]: SessionUser[K] } & {
	role: Role | null
} & ProjectOfKey

/** Asked once for each request, so that whatever is revoked is so at once. $1 session, $2 project or null */
export const sessionCaller = statement<SessionCaller>(
	'session-caller',
	`select s.id as "user_sessionId", u.id as "user_id", u.email as "user_email",
		u.email_verified_at is not null as "user_emailVerified", m.role, ${projectColumns('p')}
	from sessions s
	join users u on u.id = s.user_id
	left join (memberships m join projects p on p.id = m.project_id)
		on p.public_id = $2::uuid and m.user_id = u.id
	where s.id = $1 and s.expires_at > now()`,
)

/**
 * In a transaction, before a change of keys or members: the session and its right to administer the
 * project stay until the transaction ends. The project is locked first, by everybody.
 * No row: one of them has ended. $1 session, $2 project as it is known outside
 */
export const lockAdministrator = statement<{ id: string; role: Role }>(
	'lock-administrator',
	`select p.id, m.role
	from sessions s
	join memberships m on m.user_id = s.user_id and m.role <> 'MEMBER'
	join projects p on p.id = m.project_id
	where s.id = $1 and p.public_id = $2::uuid
	for no key update of p for share of s, m`,
)

/** $1 session */
export const closeSession = statement('close-session', `delete from sessions where id = $1`)
