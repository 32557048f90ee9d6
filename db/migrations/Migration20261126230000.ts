import { ConcurrentIndex } from '../concurrent-index.ts'

/** Lists the deliveries of an endpoint that have failed or are held: see db/webhooks/webhook-delivery-records.ts. */
export class Migration20261126230000 extends ConcurrentIndex {
	override name = 'Migration20261126230000'
	index = 'webhook_deliveries_undelivered'
	definition = `on "webhook_deliveries" ("project_id", "endpoint_id", "id") where status in ('FAILED', 'HELD')`
}
