import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/**
 * The same event of many mails for one endpoint, such as a slice of a campaign that was sent: one row in the
 * transaction of the event. The endpoint's run turns it into deliveries, so that a campaign does not wait for them.
 */
const schema = defineEntity({
	name: 'WebhookBatch',
	tableName: 'webhook_batches',
	properties: {
		projectId: p.uuid().primary(),
		endpointId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		type: p.text(),
		emailIds: p.array().columnType('uuid[]'),
		occurredAt: p.datetime(3),
	},
})

export class WebhookBatch extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'endpointId', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade', { isEnforced: false }),
		reference(['projectId', 'endpointId'], 'webhook_endpoints', 'cascade', { isEnforced: false }),
	]
}
schema.setClass(WebhookBatch)
