import { statement } from '../statement.ts'
import { sentEventData } from './ledger.ts'

// What a person decides about a mail that nothing has settled. Compare-and-set, as everything in the
// ledger: evidence that comes at the same moment wins or loses, but never both.

/** $1 project, $2 id */
export const resolveAsSent = statement<{ id: string }>(
	'resolve-as-sent',
	`with resolved as (
		update emails set status = 'SENT', sent_at = attempt_started_at, error = null, updated_at = now()
		where project_id = $1 and id = $2 and status = 'UNCERTAIN'
		returning *
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.sent', contact_id, id, ${sentEventData} from resolved
	)
	select id from resolved`,
)

/** The mail goes once more, as a send of its own. $1 project, $2 id */
export const resolveAsRetry = statement<{ id: string }>(
	'resolve-as-retry',
	`with resolved as (
		update emails set status = 'PENDING', possible_repeat = true, due_at = null,
			first_attempt_at = null, updated_at = now()
		where project_id = $1 and id = $2 and status = 'UNCERTAIN'
		returning project_id, id
	), queued as (
		insert into queued_sends (project_id, request_id, email_ids)
		select project_id, uuidv7(), array[id] from resolved
	)
	select id from resolved`,
)
