import { int, json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * What comes next, soonest first: scheduled campaigns and mails, and running executions by the time they wake.
 * Executions that wait only for an event are sorted by their start.
 */
export const upcoming = statement('upcoming', {
	params: { projectId: uuid, daysAhead: int, limit: int },
	row: {
		id: uuid,
		type: text.of<'campaign.scheduled' | 'email.scheduled' | 'workflow.active'>(),
		timestamp: timestamp,
		contactId: uuid.orNull,
		contactEmail: text.orNull,
		metadata: json<Record<string, unknown>>(),
	},
	text: `with campaign as (
		select id, scheduled_for as at, null::uuid as contact_id, jsonb_build_object('campaignId', id,
			'campaignName', name, 'subject', subject, 'totalRecipients', total_recipients) as metadata
		from campaigns
		where project_id = $projectId and status = 'SCHEDULED' and deleted_at is null
			and scheduled_for <= now() + make_interval(days => $daysAhead::int)
		order by scheduled_for, id limit $limit::int
	), execution as (
		select id, coalesce(wakes_at, started_at) as at, contact_id, automation_id, status, wait_event_name
		from executions
		where project_id = $projectId and status in ('RUNNING', 'WAITING')
			and coalesce(wakes_at, started_at) <= now() + make_interval(days => $daysAhead::int)
		order by coalesce(wakes_at, started_at), id limit $limit::int
	), mail as (
		select email_id as id, due_at as at from scheduled_sends
		where project_id = $projectId and due_at <= now() + make_interval(days => $daysAhead::int)
		order by due_at, email_id limit $limit::int
	), soonest as (
		select id, 'campaign.scheduled' as type, at, contact_id, metadata from campaign
		union all
		select x.id, 'workflow.active', x.at, x.contact_id, jsonb_strip_nulls(jsonb_build_object(
			'workflowId', a.id, 'workflowName', a.name, 'executionId', x.id, 'status', x.status,
			'waitsFor', x.wait_event_name))
		from execution x join automations a on a.project_id = $projectId and a.id = x.automation_id
		union all
		select m.id, 'email.scheduled', m.at, e.contact_id, jsonb_build_object('emailId', e.id, 'subject', e.subject)
		from mail m join emails e on e.project_id = $projectId and e.id = m.id
		order by at, id limit $limit::int
	)
	select s.id, s.type, s.at as timestamp, c.id as "contactId", c.email as "contactEmail", s.metadata
	from soonest s left join contacts c on c.project_id = $projectId and c.id = s.contact_id
	order by s.at, s.id`,
})
