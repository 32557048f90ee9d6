import { isProvedSender } from '../domains/proved-sender.ts'
import { notifyRun } from '../campaigns/campaign-actions.ts'
import { text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { sentEventData } from './ledger.ts'

// A person's decisions about a mail that nothing has settled. Compare-and-set, like all changes of the
// ledger: either the decision or simultaneous evidence takes effect, never both.

export const resolveAsSent = statement('resolve-as-sent', {
	params: { projectId: uuid, emailId: uuid },
	row: { id: uuid },
	text: `with resolved as (
		update emails set status = 'SENT', sent_at = attempt_started_at, error = null, updated_at = now()
		where project_id = $projectId and id = $emailId and status = 'UNCERTAIN'
		returning *
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.sent', contact_id, id, ${sentEventData} from resolved
	)
	select id from resolved`,
})

/**
 * The mail is sent again: by its campaign, which waits for this statement before it ends, or if that has ended, as a send
 * of its own. No row: it is not in doubt, or its sender's domain is lost; a campaign's run checks that itself.
 */
export const resolveAsRetry = statement('resolve-as-retry', {
	params: { projectId: uuid, emailId: uuid, taskQueue: text },
	row: { id: uuid },
	text: `with sending as materialized (
		select k.id from campaigns k
		where k.project_id = $projectId and k.status = 'SENDING'
			and k.id = (select campaign_id from emails where project_id = $projectId and id = $emailId)
		for share
	), resolved as (
		update emails e set status = 'PENDING', possible_repeat = true, due_at = now(),
			first_attempt_at = null, updated_at = now()
		where project_id = $projectId and id = $emailId and status = 'UNCERTAIN'
			and (exists (select from sending) or ${isProvedSender(
				'$projectId',
				`coalesce(e."from",
				(select k."from" from campaigns k where k.project_id = $projectId and k.id = e.campaign_id))`,
			)})
		returning project_id, id
	), queued as (
		insert into queued_sends (project_id, request_id, email_ids)
		select project_id, uuidv7(), array[id] from resolved where not exists (select from sending)
	), moved as (
		select project_id, id, name, total_recipients from campaigns
		where project_id = $projectId and id = (select id from sending) and exists (select from resolved)
	), notified as (${notifyRun('moved', '$taskQueue::text')}
	)
	select id from resolved`,
})
