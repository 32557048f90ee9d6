import { ConcurrentIndex } from '../concurrent-index.ts'

/**
 * The mails of a campaign that wait for their next try are found by when it is. Only deferred mails are
 * in the index, so the updates of all others stay heap-only.
 */
export class Migration20261122142600 extends ConcurrentIndex {
	override name = 'Migration20261122142600'
	index = 'emails_campaign_due'
	definition =
		'on "emails" ("campaign_id", "due_at") where campaign_id is not null and due_at is not null'
}
