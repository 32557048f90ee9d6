import { int, text, timestamp, uuid } from '../sql-types.ts'
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

const filters = {
	projectId: uuid,
	contactId: uuid.orNull,
	sourceType: text.orNull,
	campaignId: uuid.orNull,
}

const found = `from scheduled_sends s join emails e on e.project_id = s.project_id and e.id = s.email_id
	where s.project_id = $projectId and e.status = 'SCHEDULED'
		and ($contactId::uuid is null or e.contact_id = $contactId)
		and ($sourceType::text is null or e.source_type = $sourceType)
		and ($campaignId::uuid is null or e.campaign_id = $campaignId)`

/** Newest first. The index of scheduled mails finds them without reading others. */
export const scheduledMails = statement('scheduled-mails', {
	params: { ...filters, before: uuid.orNull, limit: int },
	row: { id: uuid },
	text: `select s.email_id as id ${found}
		and ($before::uuid is null or s.email_id < $before)
	order by s.email_id desc limit $limit::int`,
})

export const countScheduled = statement('count-scheduled-mails', {
	params: filters,
	row: { total: int },
	text: `select count(*)::int as total ${found}`,
})
