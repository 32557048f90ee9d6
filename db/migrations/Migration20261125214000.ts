import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the latest output of a step: see db/executions/execution-step.ts. */
export class Migration20261125214000 extends ConcurrentIndex {
	override name = 'Migration20261125214000'
	index = 'execution_steps_outputs'
	definition = `on "execution_steps" ("execution_id", "step_id", "visit") where output is not null`
}
