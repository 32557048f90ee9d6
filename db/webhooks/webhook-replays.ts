import { priorities } from '../outbox/outbox.ts'
import { int, json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** The request for a replay, as the job keeps it. */
export interface ReplayTarget {
	endpointId: string
	from: string
	to: string
	types: string[] | null
	only: 'failed' | 'all'
	/** The last delivery that was looked at. */
	after?: string
}

/** Locks the endpoint for a replay: of two requests, one comes first. */
export const lockForReplay = statement('lock-endpoint-for-replay', {
	params: { projectId: uuid, endpointId: uuid },
	text: `select from webhook_endpoints
	where project_id = $projectId and id = $endpointId for no key update`,
})

/** At most one: replays share few slots. Unfinished jobs are few, and have an index. */
export const runningReplay = (projectId: string, endpointId: string) =>
	`select j.id from jobs j
	where j.project_id = ${projectId} and j.type = 'replay' and j.state in ('waiting', 'active')
		and j.target->>'endpointId' = ${endpointId}::text
	limit 1`

export const activeReplay = statement('active-webhook-replay', {
	params: { projectId: uuid, endpointId: uuid },
	row: { id: uuid },
	text: runningReplay('$projectId', '$endpointId::uuid'),
})

export const acceptReplay = statement('accept-webhook-replay', {
	params: { projectId: uuid, target: json<ReplayTarget>(), taskQueue: text },
	row: { id: uuid },
	text: `with job as (
		insert into jobs (project_id, type, target) values ($projectId, 'replay', $target::jsonb) returning id
	), started as (
		insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
		select $projectId, 'start', ${priorities.bulk}, 'replayWebhooks', 'replay/' || id, $taskQueue::text,
			jsonb_build_object('projectId', $projectId::uuid, 'jobId', id), null
		from job
	)
	select id from job`,
})

/**
 * Locks the endpoint for a page of the replay, so that it is not disabled meanwhile. No row: it was disabled or deleted.
 * What was delivered would otherwise become due, and then be held.
 */
export const lockReplayed = statement('lock-replayed-endpoint', {
	params: { projectId: uuid, jobId: uuid },
	row: { id: uuid },
	text: `select w.id from webhook_endpoints w
	where w.project_id = $projectId and w.id = (
			select (target->>'endpointId')::uuid from jobs where project_id = $projectId and id = $jobId)
		and w.disabled_reason is null and w.deleted_at is null
	for no key update`,
})

/** The deliveries of the period that exist when it begins. */
export const countReplay = statement('count-webhook-replay', {
	params: { projectId: uuid, jobId: uuid },
	text: `update jobs j set total = (
		select count(*) from webhook_deliveries d
		where d.project_id = $projectId and d.endpoint_id = (j.target->>'endpointId')::uuid
			and d.id >= first_id_around((j.target->>'from')::timestamptz)
			and d.id < last_id_around((j.target->>'to')::timestamptz)
			and d.occurred_at between (j.target->>'from')::timestamptz and (j.target->>'to')::timestamptz)
	where j.project_id = $projectId and j.id = $jobId and j.total is null`,
})

/**
 * A page of the period: what it wants becomes due again, by a new plan of retries. The job's row says how far it has
 * come, in the same transaction.
 */
export const replayPage = statement('replay-webhook-page', {
	params: { projectId: uuid, jobId: uuid, limit: int },
	row: { seen: int },
	text: `with wanted as materialized (
		select (target->>'endpointId')::uuid as endpoint_id, target->>'only' as only,
			case when jsonb_typeof(target->'types') = 'array'
				then array(select jsonb_array_elements_text(target->'types')) else '{*}' end as types,
			coalesce((target->>'after')::uuid, '00000000-0000-0000-0000-000000000000') as after,
			(target->>'from')::timestamptz as "from", (target->>'to')::timestamptz as "to"
		from jobs where project_id = $projectId and id = $jobId
	), page as materialized (
		select d.id, wants_webhook(w.types, d.type) and (d.status in ('FAILED', 'HELD')
			or w.only = 'all' and d.status = 'DELIVERED') as is_meant
		from wanted w cross join lateral (
			select d.id, d.type, d.status from webhook_deliveries d
			where d.project_id = $projectId and d.endpoint_id = w.endpoint_id and d.id > w.after
				and d.id >= first_id_around(w."from") and d.id < last_id_around(w."to")
				and d.occurred_at between w."from" and w."to"
			order by d.id limit $limit::int) d
	), replayed as (
		update webhook_deliveries d set status = 'PENDING', tries = 0, next_at = now()
		from wanted w, page where d.project_id = $projectId and d.endpoint_id = w.endpoint_id
			and d.id = page.id and page.is_meant
		returning 1
	), advanced as (
		update jobs set position = position + (select count(*) from page),
			changed_count = changed_count + (select count(*) from replayed),
			target = target || jsonb_build_object('after', (select id from page order by id desc limit 1))
		where project_id = $projectId and id = $jobId and exists (select from page)
	)
	select count(*)::int as seen from page`,
})

export const replayColumns = {
	id: uuid,
	state: text.of<'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'>(),
	target: json<ReplayTarget>().notNull('every replay has one'),
	total: int.orNull,
	position: int,
	changedCount: int,
	failedReason: text.orNull,
	createdAt: timestamp,
	startedAt: timestamp.orNull,
	finishedAt: timestamp.orNull,
}

export const findReplay = statement('find-webhook-replay', {
	params: { projectId: uuid, jobId: uuid, endpointId: uuid },
	row: replayColumns,
	text: `select id, state, target, total, position, changed_count as "changedCount",
		failed_reason as "failedReason", created_at as "createdAt", started_at as "startedAt",
		finished_at as "finishedAt"
	from jobs where project_id = $projectId and id = $jobId and type = 'replay'
		and target->>'endpointId' = $endpointId::uuid::text`,
})
