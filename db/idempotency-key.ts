import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from './reference.ts'
import { bool, float, int, json, text, uuid } from './sql-types.ts'
import { statement } from './statement.ts'

/** A caller's request that must be performed only once per key. */
const schema = defineEntity({
	name: 'IdempotencyKey',
	tableName: 'idempotency_keys',
	indexes: [{ properties: ['expiresAt'] }],
	properties: {
		projectId: p.uuid().primary(),
		/** In the form of `spacedKey`: a project's public key has idempotency keys of its own. */
		key: p.text().primary(),
		/** Method and path of the claiming request. */
		request: p.text(),
		/** Identifies the claim: after a takeover, its former owner must not complete it. */
		claimId: p.uuid(),
		claimedAt: p.datetime(3).defaultRaw('now()'),
		expiresAt: p.datetime(3),
		/** null while the request is under way. */
		statusCode: p.integer().nullable(),
		response: p.json<unknown>().nullable(),
	},
})

export class IdempotencyKey extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'key']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(IdempotencyKey)

/**
 * Claims a key that is new, expired, or whose claimer died. A claim older than a minute without an outcome
 * was not committed, because the work's transaction writes the outcome. If that transaction is still open,
 * this statement waits for its row lock. No row: another request holds the key.
 */
export const claimKey = statement('claim-key', {
	params: { projectId: uuid, key: text, request: text, hours: float },
	row: { claimId: uuid },
	text: `insert into idempotency_keys as held (project_id, key, request, claim_id, expires_at)
	values ($projectId, $key, $request, uuidv7(), now() + $hours::float8 * interval '1 hour')
	on conflict (project_id, key) do update set
		request = excluded.request,
		claim_id = excluded.claim_id,
		claimed_at = excluded.claimed_at,
		expires_at = excluded.expires_at,
		status_code = null,
		response = null
	where held.expires_at <= now()
		or (held.status_code is null and held.claimed_at <= now() - interval '60 seconds')
	returning claim_id as "claimId"`,
})

/** The stored form of a key. The same text may be used with each of a project's API keys. */
export const spacedKey = (key: string, kind: 'public' | 'secret') =>
	kind === 'public' ? `public\n${key}` : key

/** Addresses are only in the ledger, where they can be erased. */
const withAddresses = (emails: string) => `(
		select jsonb_agg(jsonb_set(sent, '{contact,email}', coalesce(to_jsonb(e."to"), 'null'))
			order by place)
		from jsonb_array_elements(${emails}) with ordinality as s(sent, place)
		left join emails e on e.project_id = $projectId and e.id = (sent ->> 'email')::uuid)`

/**
 * Data is only in the event, where it can be erased. The stored answers of older releases contain it, too. null: the
 * event was deleted.
 */
const withData = `response || jsonb_build_object('data', (
		select data from events where project_id = $projectId and id = (response ->> 'id')::uuid))`

/** As it was returned to the caller. */
const answer = `case
	when response #> '{data,emails}' is not null then
		jsonb_set(response, '{data,emails}', ${withAddresses(`response #> '{data,emails}'`)})
	when response #> '{data,results}' is not null then jsonb_set(response, '{data,results}', (
		select jsonb_agg(jsonb_set(result, '{emails}', ${withAddresses(`result -> 'emails'`)}) order by number)
		from jsonb_array_elements(response #> '{data,results}') with ordinality as r(result, number)))
	-- Only events have this member.
	when response ? 'emailId' then ${withData}
	else response end`

export const heldKey = statement('held-key', {
	params: { projectId: uuid, key: text },
	row: { request: text, claimedAt: text, statusCode: int.orNull, response: json<unknown>() },
	text: `select request, to_json(claimed_at at time zone 'utc') #>> '{}' as "claimedAt",
		status_code as "statusCode", ${answer} as response
	from idempotency_keys where project_id = $projectId and key = $key`,
})

/**
 * Completes a handler's claim in the transaction of its work, so that both happen or neither. No row: the
 * claim was taken over, and the transaction must roll back. Statements that do all their work at once
 * contain the same update.
 */
export const completeClaim = statement('complete-claim', {
	params: {
		projectId: uuid,
		key: text.orNull,
		claimId: uuid,
		statusCode: int,
		response: json<object>().orNull,
	},
	row: { completed: bool.of<true>() },
	text: `update idempotency_keys set status_code = $statusCode, response = $response::jsonb
	where project_id = $projectId and key = $key and claim_id = $claimId and status_code is null
	returning true as completed`,
})

/** Frees the key after a refusal. */
export const releaseClaim = statement('release-claim', {
	params: { projectId: uuid, key: text, claimId: uuid },
	text: `delete from idempotency_keys
	where project_id = $projectId and key = $key and claim_id = $claimId and status_code is null`,
})

/** Whether a statement failed by `require_claim`, so that nothing was written. */
export const isClaimLost = (error: unknown) => (error as { code?: string }).code === 'TP001'
