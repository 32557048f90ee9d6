import { priorities } from '../outbox/outbox.ts'
import { bytes, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { runningReplay } from './webhook-replays.ts'
import type { endpointDisabledReasons, webhookOrderings } from './webhook-endpoint.ts'

/** More need no count: nobody reads such a number. */
export const mostCounted = 10_000

const endpointColumns = {
	id: uuid,
	url: text,
	events: text.array,
	description: text.orNull,
	ordering: text.of<(typeof webhookOrderings)[number]>(),
	disabledReason: text.of<(typeof endpointDisabledReasons)[number]>().orNull,
	disabledAt: timestamp.orNull,
	lastSuccessAt: timestamp.orNull,
	failingSince: timestamp.orNull,
	failuresInRow: int,
	restingUntil: timestamp.orNull,
	/** At most `mostCounted`. */
	waiting: int,
	/** The replay that is under way. */
	replayJobId: uuid.orNull,
	createdAt: timestamp,
	updatedAt: timestamp,
}
export type EndpointRow = RowOf<typeof endpointColumns>

const columns = `w.id, w.url, w.events, w.description, w.ordering, w.disabled_reason as "disabledReason",
	w.disabled_at as "disabledAt", w.last_success_at as "lastSuccessAt", w.failing_since as "failingSince",
	w.failures_in_row as "failuresInRow",
	case when w.resting_until > now() then w.resting_until end as "restingUntil",
	least(${mostCounted}, (select count(*) from (
		select from webhook_deliveries d
		where d.endpoint_id = w.id and d.project_id = w.project_id and d.next_at is not null
		limit ${mostCounted}) waiting) + (select coalesce(sum(cardinality(b.email_ids)), 0)
		from webhook_batches b where b.endpoint_id = w.id and b.project_id = w.project_id))::int as waiting,
	(${runningReplay('w.project_id', 'w.id')}) as "replayJobId",
	w.created_at as "createdAt", w.updated_at as "updatedAt"`

/** No row: the project has as many endpoints as it may have. Two requests at once take turns. */
export const addEndpoint = statement('add-webhook-endpoint', {
	params: {
		projectId: uuid,
		url: text,
		events: text.array,
		description: text.orNull,
		ordering: text,
		disabledReason: text.orNull,
		secret: bytes,
		most: int,
	},
	row: endpointColumns,
	text: `with turn as materialized (
		select id from projects where id = $projectId for no key update
	)
	insert into webhook_endpoints as w
		(project_id, url, events, description, ordering, secret, disabled_reason, disabled_at)
	select turn.id, $url::text, $events::text[], $description::text, $ordering::text, $secret::bytea,
		$disabledReason::text, case when $disabledReason is not null then now() end
	from turn
	where $most::int > (
		select count(*) from webhook_endpoints o where o.project_id = $projectId and o.deleted_at is null)
	returning ${columns}`,
})

export const endpointsOf = statement('webhook-endpoints-of', {
	params: { projectId: uuid },
	row: endpointColumns,
	text: `select ${columns} from webhook_endpoints w
	where w.project_id = $projectId and w.deleted_at is null order by w.id desc`,
})

export const findEndpoint = statement('find-webhook-endpoint', {
	params: { projectId: uuid, endpointId: uuid },
	row: endpointColumns,
	text: `select ${columns} from webhook_endpoints w
	where w.project_id = $projectId and w.id = $endpointId and w.deleted_at is null`,
})

/** Calls the endpoint's run: by itself it finds only endpoints with due deliveries. */
const called = (of: string) => `insert into outbox
		(project_id, kind, priority, workflow_type, workflow_id, task_queue, payload, summary)
	select project_id, 'signal', ${priorities.bulk}, 'webhooks', 'webhooks/' || id, $taskQueue::text,
		jsonb_build_object('name', 'eventsArrived', 'argument',
			jsonb_build_object('projectId', project_id, 'endpointId', id)), null
	from ${of}`

/** More keep the time of their next try: a request must end. An endpoint that is down has fewer, because it rests. */
const mostBroughtForward = 1000

/**
 * Deliveries that wait for their next try are due now, the nearest first, by the index webhook_deliveries_due. Rows that
 * a replay or a turn is writing are left to it.
 */
const broughtForward = (of: string) => `update webhook_deliveries d set next_at = now()
	where d.project_id = $projectId and d.endpoint_id = $endpointId and d.id = any(array(
		select n.id from webhook_deliveries n
		where n.project_id = $projectId and n.endpoint_id = $endpointId and n.next_at > now()
			and exists (select from ${of} w where w.disabled_reason is null)
		order by n.next_at, n.id limit ${mostBroughtForward} for no key update skip locked))`

/** Absent members of `changes` keep their values. A change starts the count of failures anew. */
export const changeEndpoint = statement('change-webhook-endpoint', {
	params: {
		projectId: uuid,
		endpointId: uuid,
		changes: json<{
			url?: string
			events?: string[]
			description?: string | null
			ordering?: string
			enabled?: boolean
		}>(),
		taskQueue: text,
	},
	row: endpointColumns,
	text: `with changed as (
		update webhook_endpoints w set
			url = coalesce($changes::jsonb->>'url', w.url),
			events = case when $changes::jsonb ? 'events'
				then array(select jsonb_array_elements_text($changes::jsonb->'events')) else w.events end,
			description = case when $changes::jsonb ? 'description' then $changes::jsonb->>'description'
				else w.description end,
			ordering = coalesce($changes::jsonb->>'ordering', w.ordering),
			disabled_reason = case ($changes::jsonb->>'enabled')::bool
				when true then null when false then coalesce(w.disabled_reason, 'OWNER') else w.disabled_reason end,
			disabled_at = case ($changes::jsonb->>'enabled')::bool
				when true then null when false then coalesce(w.disabled_at, now()) else w.disabled_at end,
			told_at = case when ($changes::jsonb->>'enabled')::bool then null else w.told_at end,
			failing_since = null, failures_in_row = 0, resting_until = null, updated_at = now()
		where w.project_id = $projectId and w.id = $endpointId and w.deleted_at is null
		returning w.*
	), brought as (
		${broughtForward('changed')}
	), called as (
		${called('changed')}
	)
	select ${columns} from changed w`,
})

/** Gone at once for readers. Its run deletes the deliveries. */
export const removeEndpoint = statement('remove-webhook-endpoint', {
	params: { projectId: uuid, endpointId: uuid, taskQueue: text },
	row: { id: uuid },
	text: `with removed as (
		update webhook_endpoints set deleted_at = now()
		where project_id = $projectId and id = $endpointId and deleted_at is null
		returning project_id, id
	), called as (
		${called('removed')}
	)
	select id from removed`,
})

const isRotatedLately = `w.rotated_at > now() - interval '24 hours'`
const mostOlder = 4

export const rotateSecret = statement('rotate-webhook-secret', {
	params: { projectId: uuid, endpointId: uuid, secret: bytes },
	row: { id: uuid },
	text: `update webhook_endpoints w set previous_secret = secret, secret = $secret::bytea, rotated_at = now(),
		older_secrets = case when ${isRotatedLately} and previous_secret is not null
			then (array_prepend(previous_secret, older_secrets))[1:${mostOlder}] end,
		updated_at = now()
	where project_id = $projectId and id = $endpointId and deleted_at is null
	returning id`,
})

/** The secrets that sign now. Those before sign along for a day after a rotation. */
export const secretsOf = `w.secret, case when ${isRotatedLately} and w.previous_secret is not null
	then array_prepend(w.previous_secret, w.older_secrets) else '{}' end as "previousSecrets"`

export const endpointSecrets = statement('webhook-endpoint-secrets', {
	params: { projectId: uuid, endpointId: uuid },
	row: { url: text, secret: bytes, previousSecrets: bytes.array },
	text: `select w.url, ${secretsOf} from webhook_endpoints w
	where w.project_id = $projectId and w.id = $endpointId and w.deleted_at is null`,
})

/** It answered a test well: deliveries that waited for it go on, and tries under way count as of an earlier state. */
export const endWaits = statement('end-webhook-waits', {
	params: { projectId: uuid, endpointId: uuid },
	text: `with endpoint as (
		update webhook_endpoints w set resting_until = null, updated_at = now()
		where w.project_id = $projectId and w.id = $endpointId
		returning w.disabled_reason
	)
	${broughtForward('endpoint')}`,
})
