import { float, int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** Counts end here. */
export const mostCounted = 10_000

const counted = (rows: string) =>
	`(select count(*)::int from (select ${rows} limit ${mostCounted + 1}) counted)`

/**
 * The work of a project that waits. Nothing here grows with the ledger: scheduled mails, mails in doubt and deliveries are
 * counted by their indexes up to a bound, campaigns have stored counts, and `queued_sends` and `outbox` contain only what is
 * open. The mails of open requests are looked up by their ids. It takes 60 ms with 20,000 open requests and as many mails in
 * doubt, beside 200,000 open requests of others.
 */
export const waitingWork = statement('waiting-work-of-project', {
	params: { projectId: uuid },
	row: {
		/** Mails of requests and workflows whose run has not ended; the next three are about these. */
		openMails: int,
		waiting: int,
		sending: int,
		oldestWaitingSince: timestamp.orNull,
		campaignWaiting: int,
		campaignSending: int,
		scheduled: int,
		nextScheduledFor: timestamp.orNull,
		uncertain: int,
		oldestUncertainSince: timestamp.orNull,
		outbox: int,
		oldestOutboxSince: timestamp.orNull,
		webhooks: int,
		/** How long the send rate makes the next mail wait. */
		rateWaitSeconds: float,
	},
	text: `with open_mails as materialized (
		select m.id from (
			select id, email_ids from queued_sends where project_id = $projectId
			order by id limit ${mostCounted + 1}) q
		cross join lateral unnest(q.email_ids) with ordinality m(id, place)
		order by q.id, m.place limit ${mostCounted + 1}
	), states as (
		select count(*)::int as open_mails,
			count(*) filter (where e.status = 'PENDING')::int as waiting,
			count(*) filter (where e.status = 'SENDING')::int as sending,
			min(greatest(e.created_at, e.scheduled_for)) filter (where e.status = 'PENDING') as oldest
		from open_mails m left join lateral (
			select status, created_at, scheduled_for from emails
			where project_id = $projectId and id = m.id offset 0) e on true
	), of_campaigns as (
		select coalesce(sum(n.pending + n.to_come), 0)::int as waiting, coalesce(sum(n.sending), 0)::int as sending
		from campaigns k cross join lateral states_of_campaign(k.project_id, k.id) n
		where k.project_id = $projectId and k.status <> 'DRAFT' and k.closed_at is null
			and k.status = 'SENDING' and k.paused_at is null
	), calls as (
		select count(*)::int as waiting, min(created_at) as oldest from (
			select created_at from outbox where project_id = $projectId and done_at is null
			order by id limit ${mostCounted + 1}) o
	)
	select s.open_mails as "openMails", s.waiting, s.sending, s.oldest as "oldestWaitingSince",
		k.waiting as "campaignWaiting", k.sending as "campaignSending",
		${counted(`from scheduled_sends where project_id = $projectId`)} as scheduled,
		(select min(due_at) from scheduled_sends where project_id = $projectId) as "nextScheduledFor",
		${counted(`from emails where project_id = $projectId and rare_status = 'UNCERTAIN'`)} as uncertain,
		(select coalesce(attempt_started_at, created_at) from emails
			where project_id = $projectId and rare_status = 'UNCERTAIN' order by id limit 1) as "oldestUncertainSince",
		c.waiting as outbox, c.oldest as "oldestOutboxSince",
		(${counted(`from webhook_endpoints w cross join lateral (
				select from webhook_deliveries d
				where d.project_id = w.project_id and d.endpoint_id = w.id and d.next_at is not null
				limit ${mostCounted + 1}) d
			where w.project_id = $projectId`)}
			+ (select coalesce(sum(cardinality(email_ids)), 0)::int from (
				select email_ids from webhook_batches where project_id = $projectId
				limit ${mostCounted + 1}) b)) as webhooks,
		coalesce((select greatest(0, extract(epoch from next_at - now())) from send_budgets
			where project_id = $projectId), 0)::float8 as "rateWaitSeconds"
	from states s, of_campaigns k, calls c`,
})

export const runKinds = [
	'campaign',
	'import',
	'undo',
	'replay',
	'bulk',
	'enrolment',
	'suspension',
	'send',
	'execution',
] as const

/**
 * The newest active runs of a project. The tables name them, so the answer is the same while Temporal is away. A claim is
 * named after its first request. Executions are looked for among the newest, because most of all are over.
 */
export const activeRuns = statement('active-runs-of-project', {
	params: { projectId: uuid, limit: int },
	row: {
		kind: text.of<(typeof runKinds)[number]>(),
		id: uuid,
		workflowId: text,
		startedAt: timestamp,
	},
	text: `select * from (
		(select 'campaign' as kind, id, 'campaign/' || id as "workflowId", started_at as "startedAt" from campaigns
			where project_id = $projectId and status <> 'DRAFT' and closed_at is null and started_at is not null
			order by started_at desc limit $limit::int)
		union all
		(select kind, id, kind || '/' || id, coalesce(started_at, created_at) from (
				select *, case when type in ('import', 'undo', 'replay') then type else 'bulk' end as kind from jobs
				where project_id = $projectId and state in ('waiting', 'active')
				order by created_at desc limit $limit::int) j)
		union all
		(select 'enrolment', automation_id, workflow_id, created_at from enrolments
			where project_id = $projectId and ended_at is null order by created_at desc limit $limit::int)
		union all
		(select 'suspension', id, 'suspension/' || id, at from suspensions
			where project_id = $projectId and told_at is null order by id desc limit $limit::int)
		union all
		(select 'send', claim_id, 'send/' || claim_id, created_at from queued_sends
			where project_id = $projectId and claim_id = request_id order by id desc limit $limit::int)
		union all
		(select 'execution', id, 'automation/' || id, started_at from (
				select id, status, started_at from executions where project_id = $projectId
				order by id desc limit 2000) x
			where status in ('RUNNING', 'WAITING') order by id desc limit $limit::int)
	) r order by "startedAt" desc, "workflowId" limit $limit::int`,
})
