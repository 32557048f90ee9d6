import { ConcurrentIndex } from '../../db/concurrent-index.ts'

/** Only for the tests. */
export class Migration99991231000001 extends ConcurrentIndex {
	override name = 'Migration99991231000001'
	index = 'events_for_tests'
	definition = 'on "events" ("project_id", "email_id")'
}
