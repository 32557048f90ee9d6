import { indexWalk } from '../index-walk.ts'
import {
	bool,
	bytes,
	float,
	int,
	type RowOf,
	storedJson,
	text,
	timestamp,
	uuid,
} from '../sql-types.ts'
import { statement } from '../statement.ts'
import { sizeOfJson } from '../stored-json.ts'
import { priorities } from '../outbox/outbox.ts'
import { outboxRowColumns, outboxColumns } from '../outbox/claims.ts'
import type { endpointDisabledReasons, webhookOrderings } from './webhook-endpoint.ts'
import { payloadData, payloadRows } from './webhook-payload.ts'
import { secretsOf } from './webhook-endpoint-records.ts'

// An endpoint's deliveries are the work of one run, in turns. A turn holds a lease, so that nobody calls the run
// again for every event.

/** The run holds its lease for this long without renewing it. */
export const leaseMs = 30_000

/**
 * Calls the runs of endpoints that have due deliveries and no run at work. Endpoints are walked by the index,
 * however many deliveries each has waiting. The call is itself a short lease.
 */
export const claimWebhooks = statement('claim-webhooks', {
	params: { taskQueue: text, lockSeconds: float },
	row: outboxRowColumns,
	text: `with recursive ${indexWalk('endpoint', 'endpoint_id', 'webhook_deliveries', 'next_at is not null')}, batched as (
		-- Few rows: runs turn them into deliveries as soon as they come.
		select distinct endpoint_id as id from webhook_batches
	), due as (
		select w.id from (select id from endpoint union select id from batched) e
		cross join lateral (select * from webhook_endpoints w where w.id = e.id offset 0) w
		where (w.leased_until is null or w.leased_until < now())
			and (w.disabled_reason is not null or w.deleted_at is not null or w.id in (select id from batched)
				or (w.resting_until is null or w.resting_until <= now()) and exists (
					select from webhook_deliveries d where d.endpoint_id = w.id and d.next_at <= now()))
			and not exists (
				select from outbox o where o.workflow_id = 'webhooks/' || w.id and o.done_at is null)
		limit 100
	), locked as materialized (
		select w.id from webhook_endpoints w where w.id = any(array(select id from due))
		for no key update skip locked
	), called as (
		update webhook_endpoints w set leased_until = now() + interval '10 seconds'
		from locked where w.id = locked.id and (w.leased_until is null or w.leased_until < now())
		returning w.project_id, w.id
	)
	insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, locked_until, attempts)
	select project_id, 'signal', ${priorities.bulk}, 'webhooks', 'webhooks/' || id, $taskQueue::text,
		jsonb_build_object('name', 'eventsArrived', 'argument',
			jsonb_build_object('projectId', project_id, 'endpointId', id)),
		now() + make_interval(secs => $lockSeconds::float8), 1
	from called
	returning ${outboxColumns}`,
})

export type Turn = RowOf<typeof takeLease>

/** Begins a turn, or renews its lease. No row: the endpoint and all its deliveries are gone. */
export const takeLease = statement('take-webhook-lease', {
	params: { projectId: uuid, endpointId: uuid },
	row: {
		url: text,
		ordering: text.of<(typeof webhookOrderings)[number]>(),
		secret: bytes,
		previousSecrets: bytes.array,
		disabledReason: text.of<(typeof endpointDisabledReasons)[number]>().orNull,
		/** The members know of it. */
		isTold: bool,
		isDeleted: bool,
		failuresInRow: int,
		/** Also a rest that is over: what ends it by a request sets null. */
		restingUntil: timestamp.orNull,
		isResting: bool,
		/** Requests that change it or rotate its secret set this. */
		updatedAt: timestamp,
	},
	text: `update webhook_endpoints w set leased_until = now() + interval '${leaseMs} milliseconds'
	where w.project_id = $projectId and w.id = $endpointId
	returning w.url, w.ordering, ${secretsOf}, w.disabled_reason as "disabledReason",
		w.told_at is not null as "isTold", w.deleted_at is not null as "isDeleted", w.failures_in_row as "failuresInRow",
		w.resting_until as "restingUntil", coalesce(w.resting_until > now(), false) as "isResting",
		w.updated_at as "updatedAt"`,
})

/** Ends the turn. Deliveries written since its last page are found by `nextWork`, a statement of its own. */
export const endLease = statement('end-webhook-lease', {
	params: { projectId: uuid, endpointId: uuid },
	text: `update webhook_endpoints set leased_until = null where project_id = $projectId and id = $endpointId`,
})

/** When there is work again, relative to now; null: nothing waits. */
export const nextWork = statement('next-webhook-work', {
	params: { projectId: uuid, endpointId: uuid },
	row: { dueInMs: float.orNull },
	text: `select case when exists (
			select from webhook_batches b where b.project_id = $projectId and b.endpoint_id = $endpointId) then 0
		when d.next_at is not null
			then greatest(0, 1000 * extract(epoch from greatest(d.next_at, w.resting_until) - now())) end::float8 as "dueInMs"
	from webhook_endpoints w left join lateral (
		select d.next_at from webhook_deliveries d
		where d.project_id = w.project_id and d.endpoint_id = w.id and d.next_at is not null
		order by d.next_at limit 1) d on true
	where w.project_id = $projectId and w.id = $endpointId`,
})

/** The most batches that one statement turns into deliveries. */
export const batchesAtOnce = 10

/** Turns batches into deliveries, as of the time of their event. Returns the number of batches. */
export const unpackBatches = statement('unpack-webhook-batches', {
	params: { projectId: uuid, endpointId: uuid, limit: int },
	row: { unpacked: int },
	text: `with oldest as (
		select b.id from webhook_batches b
		where b.project_id = $projectId and b.endpoint_id = $endpointId order by b.id limit $limit::int
	), taken as (
		delete from webhook_batches b using oldest
		where b.project_id = $projectId and b.endpoint_id = $endpointId and b.id = oldest.id
		returning b.*
	), unpacked as (
		insert into webhook_deliveries
			(project_id, endpoint_id, id, event_id, type, email_id, occurred_at, status, next_at)
		select t.project_id, t.endpoint_id, uuidv7(t.occurred_at - now()), m.id, t.type, m.id, t.occurred_at,
			case when w.disabled_reason is null then 'PENDING' else 'HELD' end,
			case when w.disabled_reason is null then t.occurred_at end
		from taken t
		join webhook_endpoints w on w.project_id = $projectId and w.id = t.endpoint_id and w.deleted_at is null
		cross join lateral unnest(t.email_ids) m(id)
	)
	select count(*)::int as unpacked from taken`,
})

export type DueDelivery = RowOf<typeof dueDeliveries>

/** Bounds the memory of a page: the data of tracked events may be large. */
const pageBytes = 2 ** 20

/**
 * The next deliveries, with what their payloads consist of. `data` is null where the payload was stored. A page has
 * at least one delivery. None: nothing is due, or only what waits for an earlier one of its mail, or the endpoint was
 * disabled, deleted or changed during the turn, or its secret rotated.
 */
export const dueDeliveries = statement('due-webhook-deliveries', {
	params: {
		projectId: uuid,
		endpointId: uuid,
		updatedAt: timestamp,
		limit: int,
		/** Only the first of each mail, although events may have come since `queueBehindEarlier`. */
		isOrdered: bool,
	},
	row: {
		id: uuid,
		eventId: uuid,
		type: text,
		emailId: uuid.orNull,
		occurredAt: timestamp,
		tries: int,
		dueAt: timestamp.notNull('only those with a time are due'),
		payload: text.orNull,
		/** Parsed only when its turn has come. */
		data: storedJson.orNull,
	},
	text: `with page as materialized (
		select * from (
			select *, sum(size) over (order by next_at, id) - size as before from (
				select d.*, coalesce(octet_length(d.payload), ${sizeOfJson('d.data')}, 0) + 1000 as size
				from webhook_deliveries d
				where d.project_id = $projectId and d.endpoint_id = $endpointId and d.next_at <= now()
					and exists (
						select from webhook_endpoints w
						where w.project_id = $projectId and w.id = $endpointId and w.updated_at = $updatedAt
							and w.disabled_reason is null and w.deleted_at is null)
					-- By the index webhook_deliveries_pending.
					and (not $isOrdered::bool or not exists (
						select from webhook_deliveries b
						where b.project_id = $projectId and b.endpoint_id = $endpointId and b.email_id = d.email_id
							and b.status = 'PENDING' and b.id < d.id))
				order by d.next_at, d.id limit $limit::int) next) sized
		where before < ${pageBytes}
	)
	select d.id, d.event_id as "eventId", d.type, d.email_id as "emailId", d.occurred_at as "occurredAt", d.tries,
		d.next_at as "dueAt", d.payload, (${payloadData})::text as data
	from page d
	${payloadRows}
	order by d.next_at, d.id`,
})

/**
 * For an endpoint that gets each mail's events in order: of the deliveries that are due, those with an earlier one of
 * their mail wait for it. Its outcome makes the next one due (`recordOutcomes`). So however many events a mail has,
 * the others of the endpoint are next. If no outcome comes, because the earlier one was held or removed, the next is
 * due after some minutes.
 */
export const queueBehindEarlier = statement('queue-behind-earlier-deliveries', {
	params: { projectId: uuid, endpointId: uuid, limit: int },
	row: { queued: int },
	text: `with behind as (
		select d.id, greatest(first.next_at, now() + interval '5 minutes') as next_at from (
			select id, email_id, next_at from webhook_deliveries
			where project_id = $projectId and endpoint_id = $endpointId and next_at <= now()
			order by next_at, id limit $limit::int) d
		cross join lateral (
			select b.id, b.next_at from webhook_deliveries b
			where b.project_id = $projectId and b.endpoint_id = $endpointId and b.email_id = d.email_id
				and b.status = 'PENDING'
			order by b.id limit 1) first
		where first.id < d.id
	), queued as (
		update webhook_deliveries d set next_at = behind.next_at from behind
		where d.project_id = $projectId and d.endpoint_id = $endpointId and d.id = behind.id
			and d.status = 'PENDING' returning 1
	)
	select count(*)::int as queued from queued`,
})

/** Deliveries of a disabled endpoint are kept for a replay. */
export const holdDeliveries = statement('hold-webhook-deliveries', {
	params: { projectId: uuid, endpointId: uuid, limit: int },
	row: { changed: int },
	text: `with waiting as (
		select d.id from webhook_deliveries d
		where d.project_id = $projectId and d.endpoint_id = $endpointId and d.next_at is not null
		order by d.next_at, d.id limit $limit::int
	), held as (
		update webhook_deliveries d set status = 'HELD', next_at = null from waiting
		where d.project_id = $projectId and d.endpoint_id = $endpointId and d.id = waiting.id
			and d.status = 'PENDING' and exists (select from webhook_endpoints w
				where w.project_id = $projectId and w.id = $endpointId and w.disabled_reason is not null)
		returning 1
	)
	select count(*)::int as changed from held`,
})

export const removeDeliveries = statement('remove-webhook-deliveries', {
	params: { projectId: uuid, endpointId: uuid, limit: int },
	row: { changed: int },
	text: `with oldest as (
		select d.id from webhook_deliveries d
		where d.project_id = $projectId and d.endpoint_id = $endpointId order by d.id limit $limit::int
	), removed as (
		delete from webhook_deliveries d using oldest
		where d.project_id = $projectId and d.endpoint_id = $endpointId and d.id = oldest.id returning 1
	)
	select count(*)::int as changed from removed`,
})
