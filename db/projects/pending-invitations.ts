import { bytes, float, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { invitedRoles } from './invitation.ts'

const pendingColumns = {
	id: uuid,
	email: text,
	role: text.of<(typeof invitedRoles)[number]>(),
	invitedBy: text,
	createdAt: timestamp,
	expiresAt: timestamp,
}
const pending = `id, email, role, invited_by as "invitedBy", created_at as "createdAt", expires_at as "expiresAt"`

/** By the primary key, newest first. */
export const pendingInvitations = statement('pending-invitations', {
	params: { projectId: uuid },
	row: pendingColumns,
	text: `select ${pending} from invitations where project_id = $projectId and expires_at > now()
	order by created_at desc, id desc`,
})

/** Waits for an invitation that is being accepted at this moment. No row: it is no longer pending. */
export const withdrawInvitation = statement('withdraw-invitation', {
	params: { projectId: uuid, invitationId: uuid },
	row: { id: uuid },
	text: `delete from invitations
	where project_id = $projectId and id = $invitationId and expires_at > now() returning id`,
})

/** Replaces the link. No row: it is no longer pending. */
export const renewInvitation = statement('renew-invitation', {
	params: { projectId: uuid, invitationId: uuid, digest: bytes, inviter: text, seconds: float },
	row: pendingColumns,
	text: `update invitations set token_digest = $digest::bytea, invited_by = $inviter,
		expires_at = now() + make_interval(secs => $seconds::float8)
	where project_id = $projectId and id = $invitationId and expires_at > now()
	returning ${pending}`,
})
