import { statement } from '../statement.ts'

export interface UpcomingItem {
	id: string
	type: 'campaign.scheduled' | 'workflow.active'
	timestamp: Date
	contactId: string | null
	contactEmail: string | null
	metadata: Record<string, unknown>
}

/**
 * What is to come, soonest first: campaigns that wait for their time, and executions that are on their
 * way, by when they wake; those that wait for an event alone, by when they began.
 * $1 project, $2 days ahead, $3 limit
 */
export const upcoming = statement<UpcomingItem>(
	'upcoming',
	`with campaign as (
		select id, scheduled_for as at, null::uuid as contact_id, jsonb_build_object('campaignId', id,
			'campaignName', name, 'subject', subject, 'totalRecipients', total_recipients) as metadata
		from campaigns
		where project_id = $1 and status = 'SCHEDULED' and deleted_at is null
			and scheduled_for <= now() + make_interval(days => $2::int)
		order by scheduled_for, id limit $3::int
	), execution as (
		select id, coalesce(wakes_at, started_at) as at, contact_id, automation_id, status, wait_event_name
		from executions
		where project_id = $1 and status in ('RUNNING', 'WAITING')
			and coalesce(wakes_at, started_at) <= now() + make_interval(days => $2::int)
		order by coalesce(wakes_at, started_at), id limit $3::int
	), soonest as (
		select id, 'campaign.scheduled' as type, at, contact_id, metadata from campaign
		union all
		select x.id, 'workflow.active', x.at, x.contact_id, jsonb_strip_nulls(jsonb_build_object(
			'workflowId', a.id, 'workflowName', a.name, 'executionId', x.id, 'status', x.status,
			'waitsFor', x.wait_event_name))
		from execution x join automations a on a.project_id = $1 and a.id = x.automation_id
		order by at, id limit $3::int
	)
	select s.id, s.type, s.at as timestamp, c.id as "contactId", c.email as "contactEmail", s.metadata
	from soonest s left join contacts c on c.project_id = $1 and c.id = s.contact_id
	order by s.at, s.id`,
)
