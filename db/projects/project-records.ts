import type { Role } from '../accounts/session.ts'
import { statement } from '../statement.ts'
import type { disabledReasons, trackingModes } from './project.ts'

/** A project as its members see it. */
export interface ProjectRecord {
	id: string
	name: string
	public: string
	secretKeyEnding: string
	role: Role
	disabledReason: (typeof disabledReasons)[number] | null
	tracking: (typeof trackingModes)[number]
	language: string
	postalAddress: string | null
	sendRatePerSecond: number | null
	createdAt: Date
	updatedAt: Date
}

const record = (role: string) => `p.public_id as id, p.name, p.public_key as public,
	p.secret_key_ending as "secretKeyEnding", ${role} as role, p.disabled_reason as "disabledReason",
	p.tracking, p.language, p.postal_address as "postalAddress", p.send_rate_per_second as "sendRatePerSecond",
	p.created_at as "createdAt", p.updated_at as "updatedAt"`

/** Oldest first. $1 user, $2 whether only what is theirs without any doubt */
export const projectsOfUser = statement<ProjectRecord>(
	'projects-of-user',
	`select ${record('m.role')}
	from memberships m join projects p on p.id = m.project_id
	where m.user_id = $1 and p.public_id is not null and (m.role = 'OWNER' or not $2::bool)
	order by p.created_at, p.public_id`,
)

/**
 * The lock on the owner's row: their address is verified before this, and then the project knows, or
 * after it, and then the project is told. The lock on the session: whoever takes the account from its
 * maker leaves them no project that is made meanwhile. No row: the session has ended. $1 session,
 * $2 name, $3 public key, $4 digest and $5 ending of the secret key
 */
export const createProject = statement<ProjectRecord>(
	'create-project',
	`with owner as (
		select u.id, u.email_verified_at is not null as verified
		from users u join sessions s on s.user_id = u.id where s.id = $1 for share
	), p as (
		insert into projects (name, public_key, secret_key_digest, secret_key_ending, owner_verified)
		select $2::text, $3::text, $4::bytea, $5::text, verified from owner returning *
	), membership as (
		insert into memberships (project_id, user_id, role) select p.id, owner.id, 'OWNER' from p, owner
	)
	select ${record("'OWNER'")} from p`,
)

/**
 * What is null stays as it is. $1 project as it is known outside, $2 its reader's role, $3 name, $4 tracking, $5 language,
 * $6 postal address; empty: none
 */
export const patchProject = statement<ProjectRecord>(
	'patch-project',
	`update projects p set name = coalesce($3::text, name), tracking = coalesce($4::text, tracking),
		language = coalesce($5::text, language),
		postal_address = case when $6::text is null then postal_address else nullif($6::text, '') end, updated_at = now()
	where public_id = $1
	returning ${record('$2::text')}`,
)

/** $1 project as it is known outside, $2 its reader's role, $3 public key, $4 digest and $5 ending of the secret key */
export const replaceKeys = statement<ProjectRecord>(
	'replace-keys',
	`update projects p set public_key = $3::text, secret_key_digest = $4::bytea,
		secret_key_ending = $5::text, updated_at = now()
	where public_id = $1
	returning ${record('$2::text')}`,
)
