import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the imports among the many more bulk jobs. */
export class Migration20261124094001 extends ConcurrentIndex {
	override name = 'Migration20261124094001'
	index = 'jobs_imports'
	definition = `on "jobs" ("project_id", "id") where type = 'import'`
}
