import { bool, float, int, json, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { attemptsKept, type WebhookAttempt } from './webhook-delivery.ts'
import type { endpointDisabledReasons } from './webhook-endpoint.ts'

export interface DeliveryOutcome {
	id: string
	status: 'PENDING' | 'DELIVERED' | 'FAILED'
	/** The time at which it was due: a replay or a retry sets another one. */
	dueAt: Date
	/** The wait before the next try. */
	waitMs: number | null
	payload: string
	attempt: WebhookAttempt
}

/** False: a replay or a retry has begun a new plan meanwhile. */
const isByPlan = `(o.status = 'DELIVERED' or d.next_at = o."dueAt")`

/**
 * Records how tries ended. A payload is stored with the first outcome, except that of a person who was erased
 * meanwhile. A delivery that was taken up by a replay or a retry meanwhile keeps its new plan, unless it was delivered.
 */
export const recordOutcomes = statement('record-webhook-outcomes', {
	params: {
		projectId: uuid,
		endpointId: uuid,
		outcomes: json<DeliveryOutcome[]>(),
		/** The next deliveries of the same mails wait for these. */
		isOrdered: bool,
	},
	text: `with outcome as materialized (
		select * from jsonb_to_recordset($outcomes::jsonb)
			as o(id uuid, status text, "dueAt" timestamptz, "waitMs" float8, payload text, attempt jsonb)
	), recorded as (
		update webhook_deliveries d set
			status = case when ${isByPlan} then o.status else d.status end,
			tries = case when ${isByPlan} then d.tries + 1 else d.tries end,
			next_at = case when ${isByPlan} then now() + make_interval(secs => o."waitMs" / 1000)
				else d.next_at end,
			payload = case when not d.is_erased then coalesce(d.payload, o.payload) end,
			attempts = case when jsonb_array_length(d.attempts) >= ${attemptsKept} then d.attempts - 0 else d.attempts end
				|| case when d.is_erased then o.attempt || '{"answer": null}' else o.attempt end
		from outcome o
		where d.project_id = $projectId and d.endpoint_id = $endpointId and d.id = any(array(select id from outcome))
			and d.id = o.id and d.status = 'PENDING'
		returning d.id, d.email_id, d.status
	), next as materialized (
		select n.id from recorded r cross join lateral (
			select b.id from webhook_deliveries b
			where b.project_id = $projectId and b.endpoint_id = $endpointId and b.email_id = r.email_id and b.id > r.id
				and b.status = 'PENDING'
			order by b.id limit 1) n
		where $isOrdered::bool and r.status <> 'PENDING'
	)
	update webhook_deliveries d set next_at = now()
	where d.project_id = $projectId and d.endpoint_id = $endpointId and d.id = any(array(select id from next))
		and d.status = 'PENDING' and d.tries = 0 and d.next_at > now()`,
})

/** False: a request has changed the endpoint or ended its rest since the turn read it. */
const isAsRead = (row: 'w' | 'old') =>
	`(${row}.updated_at = $updatedAt and ${row}.resting_until is not distinct from $restingUntil::timestamptz)`

/**
 * Records the health of an endpoint after some tries. The row is written once for many deliveries. It is disabled
 * when it answers 410, and after five days without a success. It does not rest for answers to requests that were under
 * way when its owner changed it or ended its rest. No row: it has another URL by now, or is gone.
 */
export const recordHealth = statement('record-webhook-health', {
	params: {
		projectId: uuid,
		endpointId: uuid,
		/** The URL that was tried: its failures say nothing about another one. */
		url: text,
		succeeded: bool,
		/** Those to count, since the last success among these tries or before them. */
		failures: int,
		isGone: bool,
		/** Nothing is delivered for this time. */
		restMs: float.orNull,
		/** As the turn knows them. */
		updatedAt: timestamp,
		restingUntil: timestamp.orNull,
	},
	row: {
		failuresInRow: int,
		/** The reason if it was disabled just now. */
		disabled: text.of<(typeof endpointDisabledReasons)[number]>().orNull,
		restingUntil: timestamp.orNull,
		/** It is disabled or deleted by now, whoever did it. */
		isClosed: bool,
		/** It is no longer as the turn read it. */
		isOverruled: bool,
	},
	text: `update webhook_endpoints w set
		last_success_at = case when $succeeded::bool then now() else w.last_success_at end,
		failures_in_row = case when $succeeded then 0 else w.failures_in_row end + $failures::int,
		failing_since = case when not $succeeded then coalesce(w.failing_since, now())
			when $failures > 0 then now() end,
		resting_until = case when ${isAsRead('w')} then now() + make_interval(secs => $restMs::float8 / 1000)
			else w.resting_until end,
		disabled_reason = coalesce(w.disabled_reason, case when $isGone::bool then 'GONE'
			when not $succeeded and w.failing_since < now() - interval '5 days' then 'FAILING' end),
		disabled_at = case when w.disabled_reason is null and ($isGone or not $succeeded
			and w.failing_since < now() - interval '5 days') then now() else w.disabled_at end
	where w.project_id = $projectId and w.id = $endpointId and w.url = $url
	returning w.failures_in_row as "failuresInRow",
		case when old.disabled_reason is null then new.disabled_reason end as disabled,
		w.resting_until as "restingUntil", w.disabled_reason is not null or w.deleted_at is not null as "isClosed",
		not ${isAsRead('old')} as "isOverruled"`,
})
