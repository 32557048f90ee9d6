import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the changes that people made among the many more by keys. */
export class Migration20261124030000 extends ConcurrentIndex {
	override name = 'Migration20261124030000'
	index = 'audit_entries_users'
	definition =
		'on "audit_entries" ("project_id", "user_id", "id") where user_id is not null'
}
