import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the executions of a workflow that failed, for a retry of all. */
export class Migration20261124094002 extends ConcurrentIndex {
	override name = 'Migration20261124094002'
	index = 'executions_failed'
	definition =
		`on "executions" ("project_id", "automation_id", "id") where status = 'FAILED'`
}
