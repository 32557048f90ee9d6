import { ConcurrentIndex } from '../concurrent-index.ts'

/** For searches that find many of a million contacts: see db/contacts/contact.ts. */
export class Migration20261123091000 extends ConcurrentIndex {
	override name = 'Migration20261123091000'
	index = 'contacts_all'
	definition = 'on contacts (project_id, id) include (email, subscribed)'
}
