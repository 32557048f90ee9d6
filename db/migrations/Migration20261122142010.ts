import { ConcurrentIndex } from '../concurrent-index.ts'

/** By address the mails that are no contact's, for erasing. */
export class Migration20261122142010 extends ConcurrentIndex {
	override name = 'Migration20261122142010'
	index = 'emails_of_nobody'
	definition = `on "emails" ("project_id", (case "source_type" when 'INBOUND' then "from" else "to" end)) where "contact_id" is null`
}
