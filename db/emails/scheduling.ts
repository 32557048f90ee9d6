import { timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// Changes of mails that wait for their time. Each deletes or locks the mail's row of `scheduled_sends` first, as their
// release does (db/outbox/due-sends.ts), so that a mail is either changed or released. No row: it is not SCHEDULED.

export const cancelScheduled = statement('cancel-scheduled-mail', {
	params: { projectId: uuid, emailId: uuid },
	row: { id: uuid },
	text: `with gone as (
		delete from scheduled_sends where project_id = $projectId and email_id = $emailId
		returning email_id
	)
	update emails set status = 'CANCELLED', error = 'Cancelled before its time', updated_at = now()
	where project_id = $projectId and id = $emailId and status = 'SCHEDULED' and exists (select from gone)
	returning id`,
})

/** A time in the past means now. */
export const reschedule = statement('reschedule-mail', {
	params: { projectId: uuid, emailId: uuid, at: timestamp },
	row: { id: uuid },
	text: `with moved as (
		update scheduled_sends set due_at = greatest($at::timestamptz, now())
		where project_id = $projectId and email_id = $emailId
		returning due_at
	)
	update emails set scheduled_for = (select due_at from moved), updated_at = now()
	where project_id = $projectId and id = $emailId and status = 'SCHEDULED' and exists (select from moved)
	returning id`,
})
