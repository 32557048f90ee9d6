import { ConcurrentIndex } from '../concurrent-index.ts'

/** The people at each step of a workflow are counted and listed without its ended executions. */
export class Migration20261122150010 extends ConcurrentIndex {
	override name = 'Migration20261122150010'
	index = 'executions_at_step'
	definition = `on "executions" ("project_id", "automation_id", "current_step_id", "id") where status in ('RUNNING', 'WAITING')`
}
