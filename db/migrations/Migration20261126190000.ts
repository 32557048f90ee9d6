import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the mails of a lane that wait for another try: see db/campaigns/campaign-ledger.ts. */
export class Migration20261126190000 extends ConcurrentIndex {
	override name = 'Migration20261126190000'
	index = 'emails_waiting'
	definition = `on "emails" ("campaign_id", "contact_id", "due_at") where campaign_id is not null and due_at is not null`
}
