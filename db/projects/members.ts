import type { Role } from '../accounts/session.ts'
import { statement } from '../statement.ts'
import type { invitedRoles } from './invitation.ts'

export interface Member {
	userId: string
	email: string
	role: Role
	createdAt: Date
}

/** In the order in which they came. $1 project */
export const membersOf = statement<Member>(
	'members-of',
	`select m.user_id as "userId", u.email, m.role, m.created_at as "createdAt"
	from memberships m join users u on u.id = m.user_id
	where m.project_id = $1 order by m.created_at, m.user_id`,
)

/** Whom to tell of what happens to a project, and in which language. */
export interface Readers {
	project: string
	language: string
	members: string[]
}

/** The columns of Readers, from a row with the project's id, name and language. */
export const readersOf = (row: string) => `${row}.name as project, ${row}.language, array(
		select u.email from memberships m join users u on u.id = m.user_id
		where m.project_id = ${row}.id order by u.email) as members`

/** Whoever lost a say in a project has neither a link to it left, nor let anybody in by one. */
const withdrawn = (
	of: string,
) => `delete from invitations i using ${of} join users u on u.id = ${of}.user_id
		where i.project_id = $1 and u.email in (i.email, i.invited_by)`

/**
 * An account whose address is not verified may be anybody's, and counts as none. No row: nobody has an
 * account with this address; otherwise no link for it is needed any more.
 * $1 project, $2 normalized address, $3 role
 */
export const addMember = statement<Member & { isNew: boolean }>(
	'add-member',
	`with found as (
		select id, email from users u where email = $2::text and (email_verified_at is not null
			or exists (select from memberships m where m.project_id = $1 and m.user_id = u.id))
	), added as (
		insert into memberships (project_id, user_id, role) select $1, id, $3::text from found
		on conflict do nothing returning created_at
	), links_gone as (
		delete from invitations i using found where i.project_id = $1 and i.email = found.email
	)
	select id as "userId", email, $3::text as role, created_at as "createdAt",
		created_at is not null as "isNew"
	from found left join added on true`,
)

/** The owner stays what they are. No row: no member. $1 project, $2 user, $3 role */
export const changeRole = statement<Member>(
	'change-role',
	`with m as (
		update memberships set role = case role when 'OWNER' then role else $3::text end
		where project_id = $1 and user_id = $2::uuid returning user_id, role, created_at
	), lowered as (
		select user_id from m where role = 'MEMBER'
	), links_gone as (
		${withdrawn('lowered')}
	)
	select user_id as "userId", email, role, m.created_at as "createdAt"
	from m join users u on u.id = m.user_id`,
)

/** No row: no member. $1 project, $2 user */
export const removeMember = statement<{ removed: boolean }>(
	'remove-member',
	`with found as (
		select role from memberships where project_id = $1 and user_id = $2::uuid for update
	), gone as (
		delete from memberships m using found
		where project_id = $1 and user_id = $2::uuid and found.role <> 'OWNER' returning user_id
	), links_gone as (
		${withdrawn('gone')}
	)
	select exists (select from gone) as removed from found`,
)

/** A later invitation replaces an earlier one. $1 project, $2 normalized address, $3 role, $4 digest, $5 inviter, $6 seconds */
export const invite = statement(
	'invite',
	`insert into invitations (project_id, email, role, token_digest, invited_by, expires_at)
	values ($1, $2, $3, $4::bytea, $5, now() + make_interval(secs => $6::float8))
	on conflict (project_id, email) do update set role = excluded.role,
		token_digest = excluded.token_digest, invited_by = excluded.invited_by,
		expires_at = excluded.expires_at, created_at = now()`,
)

export interface OpenInvitation {
	projectId: string
	/** The id by which the project is known outside. */
	publicId: string
	project: string
	email: string
	role: (typeof invitedRoles)[number]
	/** Whether whoever accepts has an account that is surely theirs. */
	hasAccount: boolean
}

const openInvitation = `select i.project_id as "projectId", p.public_id as "publicId", p.name as project, i.email, i.role,
		coalesce(u.email_verified_at is not null, false) as "hasAccount"
	from invitations i join projects p on p.id = i.project_id left join users u on u.email = i.email
	where i.token_digest = $1::bytea and i.expires_at > now()`

/** $1 digest */
export const findInvitation = statement<OpenInvitation>('find-invitation', openInvitation)

/** $1 digest */
export const lockInvitation = statement<OpenInvitation>(
	'lock-invitation',
	`${openInvitation} for update of i`,
)

/** Who is a member already keeps their role. $1 project, $2 user, $3 role, $4 address */
export const acceptInvitation = statement(
	'accept-invitation',
	`with gone as (
		delete from invitations where project_id = $1 and email = $4
	)
	insert into memberships (project_id, user_id, role) values ($1, $2::uuid, $3)
	on conflict do nothing`,
)
