import type { PoolClient } from 'pg'
import type { AutomationKey } from '../../db/automations/automation-schedules.ts'
import { graphSize } from '../../db/automations/automation-graph-records.ts'
import { maxConfigBytes, maxSteps, maxTransitions } from '../../db/automations/automation-graph.ts'
import { type FieldError, invalid } from '../errors.ts'

/**
 * Refuses a step that makes a workflow too large, in the transaction that wrote it. Removals are
 * not checked, so a workflow that is already too large can be made smaller.
 */
export async function checkSize(db: PoolClient, key: AutomationKey) {
	const [size] = await graphSize(db, key)
	const { steps, transitions, configBytes } = size!
	if (steps > maxSteps) throw invalid(tooMany('steps', maxSteps))
	if (transitions > maxTransitions) throw invalid(tooMany('transitions', maxTransitions))
	if (configBytes > maxConfigBytes)
		throw invalid({
			field: 'config',
			message:
				'makes the configurations of the workflow larger than 1 MB in total: shorten it, or those of other steps',
			code: 'too_big',
		})
}

export const tooMany = (field: 'steps' | 'transitions', most: number): FieldError => ({
	field,
	message: `must be at most ${most} in a workflow`,
	code: 'too_big',
})
