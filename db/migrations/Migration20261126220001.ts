import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the mails about a person to be erased: see db/contacts/contact-erasing.ts. */
export class Migration20261126220001 extends ConcurrentIndex {
	override name = 'Migration20261126220001'
	index = 'emails_about'
	definition = `on "emails" ("about_contact_id") where about_contact_id is not null`
}
