import { stepShapes } from '../automations/step-shapes.ts'
import { triggerShapes } from '../automations/automation-trigger.ts'
import { conditionShapes } from '../conditions/condition-shapes.ts'
import type { Shape } from './shape.ts'
import { webhookShapes } from './webhook-docs.ts'

/** Components that say more than the validator checks: their handlers check the rest. */
export const shapes: Record<string, Shape> = {
	...conditionShapes,
	...stepShapes,
	...triggerShapes,
	...webhookShapes,
}
