import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the wait that an event has ended: see db/executions/execution-step.ts. */
export class Migration20261125214001 extends ConcurrentIndex {
	override name = 'Migration20261125214001'
	index = 'execution_steps_events'
	definition = `on "execution_steps" ("execution_id", "event_id") where event_id is not null`
}
