import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the versions that active executions still follow: see db/automations/automation-usage.ts. */
export class Migration20261126221000 extends ConcurrentIndex {
	override name = 'Migration20261126221000'
	index = 'executions_in_force'
	definition = `on "executions" ("project_id", "automation_id", "version") where status in ('RUNNING', 'WAITING')`
}
