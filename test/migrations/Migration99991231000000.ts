import { ConcurrentIndex } from '../../db/concurrent-index.ts'

/** Only for the tests. */
export class Migration99991231000000 extends ConcurrentIndex {
	override name = 'Migration99991231000000'
	index = 'contacts_for_tests'
	definition = 'on "contacts" ("project_id", "updated_at")'
}
