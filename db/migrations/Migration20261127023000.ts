import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the delivery that others of its mail wait for: see db/webhooks/webhook-turns.ts. */
export class Migration20261127023000 extends ConcurrentIndex {
	override name = 'Migration20261127023000'
	index = 'webhook_deliveries_pending'
	definition = `on "webhook_deliveries" ("email_id", "endpoint_id", "id") where status = 'PENDING' and email_id is not null`
}
