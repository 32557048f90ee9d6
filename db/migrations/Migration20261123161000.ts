import { ConcurrentIndex } from '../concurrent-index.ts'

/** In the place of a unique index, which a partitioned table can't have: see db/emails/email.ts. */
export class Migration20261123161000 extends ConcurrentIndex {
	override name = 'Migration20261123161000'
	index = 'emails_recipients'
	definition = 'on emails (campaign_id, contact_id) where campaign_id is not null'
}
