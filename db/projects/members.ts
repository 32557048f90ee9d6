import type { Role } from '../accounts/session.ts'
import { bool, bytes, float, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { invitedRoles } from './invitation.ts'

const memberColumns = {
	userId: uuid,
	email: text,
	role: text.of<Role>(),
	createdAt: timestamp,
}
export type Member = RowOf<typeof memberColumns>

/** In the order in which they joined. */
export const membersOf = statement('members-of', {
	params: { projectId: uuid },
	row: memberColumns,
	text: `select m.user_id as "userId", u.email, m.role, m.created_at as "createdAt"
	from memberships m join users u on u.id = m.user_id
	where m.project_id = $projectId order by m.created_at, m.user_id`,
})

/** The members to notify about a project, from `readers_of`, and its language. */
export const readersColumns = { project: text, language: text, members: text.array }
export type Readers = RowOf<typeof readersColumns>

/** A person who lost their role keeps no link to the project, and their open invitations end. */
const withdrawn = (
	of: string,
) => `delete from invitations i using ${of} join users u on u.id = ${of}.user_id
		where i.project_id = $projectId and u.email in (i.email, i.invited_by)`

/**
 * An account with an unverified address could be anyone's, so it doesn't count. No row: no account has
 * this address. Otherwise invitations to it are no longer needed and are deleted.
 */
export const addMember = statement('add-member', {
	params: { projectId: uuid, email: text, role: text },
	row: { ...memberColumns, isNew: bool },
	text: `with found as (
		select id, email from users u where email = $email::text and (email_verified_at is not null
			or exists (select from memberships m where m.project_id = $projectId and m.user_id = u.id))
	), added as (
		insert into memberships (project_id, user_id, role) select $projectId, id, $role::text
			from found
		on conflict do nothing returning created_at
	), links_gone as (
		delete from invitations i using found where i.project_id = $projectId and i.email = found.email
	)
	select id as "userId", email, $role::text as role, created_at as "createdAt",
		created_at is not null as "isNew"
	from found left join added on true`,
})

/** The owner's role can't be changed. No row: not a member. */
export const changeRole = statement('change-role', {
	params: { projectId: uuid, userId: uuid, role: text },
	row: memberColumns,
	text: `with m as (
		update memberships set role = case role when 'OWNER' then role else $role::text end
		where project_id = $projectId and user_id = $userId::uuid returning user_id, role, created_at
	), lowered as (
		select user_id from m where role = 'MEMBER'
	), links_gone as (
		${withdrawn('lowered')}
	)
	select user_id as "userId", email, role, m.created_at as "createdAt"
	from m join users u on u.id = m.user_id`,
})

/** No row: not a member. */
export const removeMember = statement('remove-member', {
	params: { projectId: uuid, userId: uuid },
	row: { removed: bool },
	text: `with found as (
		select role from memberships where project_id = $projectId and user_id = $userId::uuid
			for update
	), gone as (
		delete from memberships m using found
		where project_id = $projectId and user_id = $userId::uuid and found.role <> 'OWNER'
			returning user_id
	), links_gone as (
		${withdrawn('gone')}
	)
	select exists (select from gone) as removed from found`,
})

/** A later invitation replaces an earlier one. */
export const invite = statement('invite', {
	params: {
		projectId: uuid,
		email: text,
		role: text,
		digest: bytes,
		inviter: text,
		seconds: float,
	},
	text: `insert into invitations (project_id, email, role, token_digest, invited_by, expires_at)
	values ($projectId, $email, $role, $digest::bytea, $inviter,
		now() + make_interval(secs => $seconds::float8))
	on conflict (project_id, email) do update set role = excluded.role,
		token_digest = excluded.token_digest, invited_by = excluded.invited_by,
		expires_at = excluded.expires_at, created_at = now()`,
})

const openInvitationColumns = {
	projectId: uuid,
	/** The project's public id. */
	publicId: uuid.notNull('invitations go as soon as a project is removed'),
	project: text,
	email: text,
	role: text.of<(typeof invitedRoles)[number]>(),
	/** Whether the accepting person has an account with a verified address. */
	hasAccount: bool,
}
export type OpenInvitation = RowOf<typeof openInvitationColumns>

const openInvitation = `select i.project_id as "projectId", p.public_id as "publicId", p.name as project, i.email, i.role,
		coalesce(u.email_verified_at is not null, false) as "hasAccount"
	from invitations i join projects p on p.id = i.project_id left join users u on u.email = i.email
	where i.token_digest = $digest::bytea and i.expires_at > now()`

export const findInvitation = statement('find-invitation', {
	params: { digest: bytes },
	row: openInvitationColumns,
	text: openInvitation,
})

export const lockInvitation = statement('lock-invitation', {
	params: { digest: bytes },
	row: openInvitationColumns,
	text: `${openInvitation} for update of i`,
})

/** An existing member keeps their role. */
export const acceptInvitation = statement('accept-invitation', {
	params: { projectId: uuid, userId: uuid, role: text, email: text },
	text: `with gone as (
		delete from invitations where project_id = $projectId and email = $email
	)
	insert into memberships (project_id, user_id, role) values ($projectId, $userId::uuid, $role)
	on conflict do nothing`,
})
