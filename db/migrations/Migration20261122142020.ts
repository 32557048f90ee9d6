import { ConcurrentIndex } from '../concurrent-index.ts'

/** By their mail the events that are no contact's, for erasing. */
export class Migration20261122142020 extends ConcurrentIndex {
	override name = 'Migration20261122142020'
	index = 'events_of_nobody'
	definition = `on "events" ("project_id", "email_id") where contact_id is null and email_id is not null`
}
