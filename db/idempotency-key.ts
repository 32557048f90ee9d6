import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/** A caller's promise that a request with this key is to happen once. */
const schema = defineEntity({
	name: 'IdempotencyKey',
	tableName: 'idempotency_keys',
	indexes: [{ properties: ['expiresAt'] }],
	properties: {
		projectId: p.uuid().primary(),
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
