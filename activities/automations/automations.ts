import { type ExecutionKey, failExecution } from '../../db/executions/execution-advancing.ts'
import { cancelOne } from '../../db/executions/execution-cancelling.ts'
import { permanently } from '../permanence.ts'
import { advance } from './advance.ts'
import { closingActivities, type ClosingServices } from './closing.ts'
import { enrolmentActivities } from './enrolment.ts'
import { callWebhook, type WebhookServices } from './webhook-step.ts'

export function automationActivities(services: WebhookServices & ClosingServices) {
	const { pool } = services
	return {
		...closingActivities(services),
		...enrolmentActivities(services),

		/** On to the next stop. See `advance`. */
		advanceExecution: (key: ExecutionKey, done: number) =>
			permanently(() => advance(services, key, done)),

		/** What a step does outside of the database. */
		performStep: (key: ExecutionKey, visit: number) =>
			permanently(() => callWebhook(services, key, visit)),

		async failExecution({ projectId, executionId }: ExecutionKey, error: string) {
			await failExecution(pool, [projectId, executionId, error.slice(0, 1000)])
		},

		async cancelExecution({ projectId, executionId }: ExecutionKey, reason: string) {
			await cancelOne(pool, [projectId, executionId, null, reason, false])
		},
	}
}
