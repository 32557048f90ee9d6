import { statement } from '../statement.ts'

export interface OutboxRow {
	id: string
	project_id: string
	kind: 'start' | 'signal' | 'terminate' | 'schedule'
	priority: number
	workflow_type: string | null
	workflow_id: string
	task_queue: string | null
	payload: unknown
	summary: string | null
	/** Keywords beside ProjectId. */
	search_attributes: Record<string, string> | null
	/** The `traceparent` of whoever wrote it; null when nobody follows. */
	trace: string | null
	/** Those of the other requests that it is about. */
	trace_links: string[] | null
	attempts: number
}

const columns = `id, project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary,
	search_attributes, trace, trace_links, attempts`

/**
 * Group commit: what waits of a project becomes one run, named after the first request in it, unless
 * the project has enough runs that are new or many that are still at it (a run's outbox row goes when
 * its first pass is over). So an idle system starts one run a request, a busy one few and large ones,
 * and a run that talks to a slow server holds the next one up for a second. Projects are walked by the
 * index, however many sends one of them has waiting; each gets its own runs, so that Temporal can be
 * fair between them. A run of a single mail is found by its contact.
 *
 * $1 requests in a run, $2 mails in a run (a larger single request goes alone), $3 new runs a project,
 * $4 seconds for the claimer to tell Temporal, $5 task queue, $6 priority, $7 runs a project
 */
export const claimSends = statement<OutboxRow>(
	'claim-sends',
	`with recursive project(id) as (
		(select project_id from queued_sends where claim_id is null order by project_id limit 1)
		union all
		select (
			select q.project_id from queued_sends q
			where q.claim_id is null and q.project_id > project.id
			order by q.project_id limit 1)
		from project where project.id is not null
	), free as (
		select id from project where id is not null and (
			select count(*) filter (where o.done_at is null or o.done_at > now() - interval '1 second')
				< $3::int and count(*) < $7::int
			from outbox o where o.workflow_type = 'send' and o.project_id = project.id)
	), waiting as (
		select q.* from free cross join lateral (
			select id, project_id, request_id, cardinality(email_ids) as mails from queued_sends
			where claim_id is null and project_id = free.id
			order by id limit $1::int for update skip locked) q
	), fitting as (
		select id, project_id,
			first_value(request_id) over w as claim_id,
			sum(mails) over w - mails as mails_before
		from waiting window w as (partition by project_id order by id)
	), claimed as (
		update queued_sends q set claim_id = fitting.claim_id
		from fitting where q.id = fitting.id and fitting.mails_before < $2::int
		returning q.project_id, q.claim_id, cardinality(q.email_ids) as mails, q.email_ids[1] as mail_id,
			q.id, q.trace
	)
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload,
		summary, search_attributes, locked_until, attempts, trace, trace_links)
	select project_id, 'start', $6::int, 'send', 'send/' || claim_id, $5::text,
		jsonb_build_object('claimId', claim_id),
		count(*) || case count(*) when 1 then ' request, ' else ' requests, ' end
			|| sum(mails) || case sum(mails) when 1 then ' mail' else ' mails' end,
		case sum(mails) when 1 then (
			select jsonb_build_object('ContactId', e.contact_id) from emails e
			where e.project_id = claimed.project_id and e.id = (array_agg(claimed.mail_id))[1]
				and e.contact_id is not null) end,
		now() + make_interval(secs => $4::float8), 1,
		(array_agg(trace order by id) filter (where trace is not null))[1],
		(array_agg(trace order by id) filter (where trace is not null))[2:]
	from claimed group by project_id, claim_id
	returning ${columns}`,
)

/** $1 how many at most, $2 seconds for the claimer to tell Temporal */
export const claimOutbox = statement<OutboxRow>(
	'claim-outbox',
	`update outbox set locked_until = now() + make_interval(secs => $2::float8), attempts = attempts + 1
	where id in (
		select id from outbox
		where done_at is null and next_at <= now() and (locked_until is null or locked_until < now())
		order by priority, id limit $1::int for update skip locked)
	returning ${columns}`,
)

/** $1 ids */
export const markDone = statement(
	'mark-outbox-done',
	`update outbox set done_at = now(), locked_until = null, last_error = null where id = any($1::int8[])`,
)

/** $1 id, $2 error, $3 seconds until the next try */
export const markFailed = statement(
	'mark-outbox-failed',
	`update outbox set locked_until = null, last_error = $2::text, next_at = now() + make_interval(secs => $3::float8)
	where id = $1::int8 and done_at is null`,
)

/**
 * Claims that were not finished within five minutes: Temporal is asked about their runs. They come up
 * again five minutes later, whoever asks. $1 how many at most
 */
export const unfinishedClaims = statement<{ project_id: string; claim_id: string }>(
	'unfinished-claims',
	`update queued_sends set checked_at = now() where id in (
		select id from queued_sends
		where claim_id = request_id and coalesce(checked_at, created_at) < now() - interval '5 minutes'
		order by id limit $1::int for update skip locked)
	returning project_id, claim_id`,
)

/**
 * Starts lost runs again, but none of a claim that has come to its end meanwhile: nobody would take its
 * outbox row away. $1 claims as [{project_id, claim_id}], $2 task queue, $3 priority
 */
export const restartClaims = statement(
	'restart-claims',
	`with lost as (
		select * from jsonb_to_recordset($1::jsonb) as l(project_id uuid, claim_id uuid)
	), gone as (
		delete from outbox where workflow_id in (select 'send/' || claim_id from lost)
	), unfinished as (
		select q.project_id, q.claim_id from queued_sends q
		join lost l on l.project_id = q.project_id and l.claim_id = q.claim_id
		where q.request_id = q.claim_id for update of q
	)
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select project_id, 'start', $3::int, 'send', 'send/' || claim_id, $2::text,
		jsonb_build_object('claimId', claim_id), 'found unfinished, started again'
	from unfinished`,
)
