import { indexWalk } from '../index-walk.ts'
import { bigint, bool, float, int, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { priorities } from './outbox.ts'

export const outboxRowColumns = {
	id: bigint,
	project_id: uuid,
	kind: text.of<'start' | 'signal' | 'terminate' | 'schedule'>(),
	priority: int,
	workflow_type: text.orNull,
	workflow_id: text,
	task_queue: text.orNull,
	payload: json<unknown>().orNull,
	summary: text.orNull,
	/** Keywords beside ProjectId. */
	search_attributes: json<Record<string, string>>().orNull,
	/** The `traceparent` of the row's writer; null if tracing is off. */
	trace: text.orNull,
	/** Those of the other requests in the claim. */
	trace_links: text.array.orNull,
	attempts: int,
}
export type OutboxRow = RowOf<typeof outboxRowColumns>

export const outboxColumns = `id, project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary,
	search_attributes, trace, trace_links, attempts`

/** Scheduled mails are claimed by their release: see due-sends.ts. */
const sendPriorities = [priorities.transactional, priorities.automation, priorities.bulk]

/**
 * Group commit: a project's waiting sends of one priority become one run, named after the first request in it. They wait
 * if the project has enough new runs of it, or many that have not come to a long wait yet (a run's outbox row is
 * deleted then, or at its end). So an idle system starts one run per request, and a busy one starts few large
 * runs. A run that waits for a slow server delays the next one by a second. Projects are walked by the
 * index, however many sends each has waiting. Each project gets runs of its own, so that Temporal can be
 * fair between projects. A run with a single mail can be found by its contact.
 */
export const claimSends = statement('claim-sends', {
	params: {
		requestsPerRun: int,
		mailsPerRun: int,
		newRunsPerProject: int,
		lockSeconds: float,
		taskQueue: text,
		runsPerProject: int,
	},
	/** `hasMore`: the project had more waiting than fits in a run. */
	row: { ...outboxRowColumns, hasMore: bool },
	text: `with recursive ${indexWalk('project', 'project_id', 'queued_sends', 'claim_id is null')}, free as (
		select id, priority from project cross join unnest(array[${sendPriorities.join()}]) class(priority)
		where id is not null and (
			select count(*) filter (where o.done_at is null or o.done_at > now() - interval '1 second')
				< $newRunsPerProject::int and count(*) < $runsPerProject::int
			from outbox o where o.workflow_type = 'send' and o.project_id = project.id
				and o.priority = class.priority)
	), waiting as (
		select q.* from free cross join lateral (
			select id, project_id, priority, request_id, cardinality(email_ids) as mails from queued_sends
			where claim_id is null and project_id = free.id and priority = free.priority
			order by id limit $requestsPerRun::int for update skip locked) q
	), fitting as (
		select id, project_id, priority,
			first_value(request_id) over w as claim_id,
			sum(mails) over w - mails as mails_before
		from waiting window w as (partition by project_id, priority order by id)
	), claimed as (
		update queued_sends q set claim_id = fitting.claim_id
		from fitting where q.id = any(array(select id from fitting))
			and q.id = fitting.id and fitting.mails_before < $mailsPerRun::int
		returning q.project_id, q.priority, q.claim_id, cardinality(q.email_ids) as mails,
			q.email_ids[1] as mail_id, q.id, q.trace
	), started as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
			summary, search_attributes, locked_until, attempts, trace, trace_links)
		select project_id, 'start', priority, 'send', 'send/' || claim_id, $taskQueue::text,
			jsonb_build_object('claimId', claim_id),
			count(*) || case count(*) when 1 then ' request, ' else ' requests, ' end
				|| sum(mails) || case sum(mails) when 1 then ' mail' else ' mails' end,
			case sum(mails) when 1 then (
				select jsonb_build_object('ContactId', e.contact_id) from emails e
				where e.project_id = claimed.project_id and e.id = (array_agg(claimed.mail_id))[1]
					and e.contact_id is not null) end,
			now() + make_interval(secs => $lockSeconds::float8), 1,
			(array_agg(trace order by id) filter (where trace is not null))[1],
			(array_agg(trace order by id) filter (where trace is not null))[2:]
		from claimed group by project_id, priority, claim_id
		returning ${outboxColumns}
	)
	select ${outboxColumns}, more."hasMore"
	from started join (
		select project_id, priority,
			count(*) = $requestsPerRun::int or max(mails_before) >= $mailsPerRun::int as "hasMore"
		from fitting group by project_id, priority) more using (project_id, priority)`,
})

const isWaiting = `done_at is null and next_at <= now() and (locked_until is null or locked_until < now())`

/**
 * The next rows of each project, in order of priority, in turns of the projects: however many rows a project has
 * waiting, those of others don't wait for them. Projects are walked by the index.
 */
export const claimOutbox = statement('claim-outbox', {
	params: { limit: int, lockSeconds: float },
	row: outboxRowColumns,
	text: `with recursive ${indexWalk('project', 'project_id', 'outbox', 'done_at is null')}, waiting as (
		select o.* from project cross join lateral (
			select id, priority, row_number() over (order by priority, id) as turn from (
				select id, priority from outbox where project_id = project.id and ${isWaiting}
				order by priority, id limit $limit::int) next
			) o
	), chosen as (
		select id from waiting order by turn, priority, id limit $limit::int
	)
	update outbox set locked_until = now() + make_interval(secs => $lockSeconds::float8),
		attempts = attempts + 1
	where id in (
		select id from outbox where id = any(array(select id from chosen)) and ${isWaiting}
		for update skip locked)
	returning ${outboxColumns}`,
})

export const markDone = statement('mark-outbox-done', {
	params: { outboxIds: bigint.array },
	text: `update outbox set done_at = now(), locked_until = null, last_error = null
		where id = any($outboxIds::int8[])`,
})

export const markFailed = statement('mark-outbox-failed', {
	params: {
		outboxId: bigint,
		error: text,
		/** The wait before the next try. */
		seconds: float,
	},
	text: `update outbox set locked_until = null, last_error = $error::text,
		next_at = now() + make_interval(secs => $seconds::float8)
	where id = $outboxId::int8 and done_at is null`,
})

/**
 * Claims that are unfinished after five minutes: Temporal is asked about their runs. Each is returned
 * again five minutes later.
 */
export const unfinishedClaims = statement('unfinished-claims', {
	params: { limit: int },
	row: { project_id: uuid, claim_id: uuid.notNull('claim_id is not null') },
	text: `update queued_sends set checked_at = now() where id in (
		select id from queued_sends
		where claim_id = request_id and coalesce(checked_at, created_at) < now() - interval '5 minutes'
		order by id limit $limit::int for update skip locked)
	returning project_id, claim_id`,
})

/**
 * Restarts lost runs, except for claims that have ended meanwhile: nothing would delete their outbox row.
 */
export const restartClaims = statement('restart-claims', {
	params: { runs: json<object[]>(), taskQueue: text },
	text: `with lost as (
		select * from jsonb_to_recordset($runs::jsonb) as l(project_id uuid, claim_id uuid)
	), gone as (
		delete from outbox where workflow_id in (select 'send/' || claim_id from lost)
	), unfinished as (
		select q.project_id, q.claim_id, q.priority from queued_sends q
		join lost l on l.project_id = q.project_id and l.claim_id = q.claim_id
		where q.request_id = q.claim_id for update of q
	)
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select project_id, 'start', priority, 'send', 'send/' || claim_id, $taskQueue::text,
		jsonb_build_object('claimId', claim_id), 'found unfinished, started again'
	from unfinished`,
})
