import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { statement } from './statement.ts'

/** A caller's promise that a request with this key is to happen once. */
const schema = defineEntity({
	name: 'IdempotencyKey',
	tableName: 'idempotency_keys',
	indexes: [{ properties: ['expiresAt'] }],
	properties: {
		projectId: p.uuid().primary(),
		/** As `spacedKey` has it: the public key of a project has keys of its own. */
		key: p.text().primary(),
		/** Method and path of the request that claimed it. */
		request: p.text(),
		/** Names the claim: a taken-over claim's late owner must not complete it. */
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
}
schema.setClass(IdempotencyKey)

/**
 * Claims a key: a fresh one, an expired one, or one whose claimer died. Who began more than a minute
 * ago and has no outcome did not commit, because the outcome is written by the transaction that does
 * the work; should that transaction still be open, the row's lock makes this statement wait for it.
 * No row: somebody else holds the key.
 *
 * $1 project, $2 key, $3 request, $4 hours until it expires
 */
export const claimKey = statement<{ claimId: string }>(
	'claim-key',
	`insert into idempotency_keys as held (project_id, key, request, claim_id, expires_at)
	values ($1, $2, $3, uuidv7(), now() + $4::float8 * interval '1 hour')
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
)

/** A key as it is stored. What one of a project's API keys claims leaves the same text free for the other. */
export const spacedKey = (key: string, kind: 'public' | 'secret') =>
	kind === 'public' ? `public\n${key}` : key

export interface HeldKey {
	request: string
	claimedAt: string
	statusCode: number | null
	response: unknown
}

/** As it was given: the addresses are in the ledger only, from where a person can be erased. */
const answer = `case when response #> '{data,emails}' is null then response
	else jsonb_set(response, '{data,emails}', (
		select jsonb_agg(jsonb_set(sent, '{contact,email}', coalesce(to_jsonb(e."to"), 'null'))
			order by place)
		from jsonb_array_elements(response #> '{data,emails}') with ordinality as s(sent, place)
		left join emails e on e.project_id = $1 and e.id = (sent ->> 'email')::uuid)) end`

/** $1 project, $2 key */
export const heldKey = statement<HeldKey>(
	'held-key',
	`select request, to_json(claimed_at at time zone 'utc') #>> '{}' as "claimedAt",
		status_code as "statusCode", ${answer} as response
	from idempotency_keys where project_id = $1 and key = $2`,
)

/**
 * How a handler completes its claim, in the transaction of its work, so that both happen or neither.
 * No row: the claim was taken over, and the transaction must roll back. Statements that do all of
 * their work at once carry the same update within.
 *
 * $1 project, $2 key, $3 claim, $4 status, $5 response as JSON
 */
export const completeClaim = statement<{ completed: true }>(
	'complete-claim',
	`update idempotency_keys set status_code = $4, response = $5::jsonb
	where project_id = $1 and key = $2 and claim_id = $3 and status_code is null
	returning true as completed`,
)

/** After a refusal, the key is free again. $1 project, $2 key, $3 claim */
export const releaseClaim = statement(
	'release-claim',
	`delete from idempotency_keys
	where project_id = $1 and key = $2 and claim_id = $3 and status_code is null`,
)
