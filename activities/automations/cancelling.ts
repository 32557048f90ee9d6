import type { Pool } from 'pg'
import { awaitStarts, cancelExecutions } from '../../db/executions/execution-cancelling.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { withHeartbeat } from '../heartbeat.ts'

interface CancellingServices {
	pool: Pool
	relay: { wake(): void }
}

export function cancellingActivities({ pool, relay }: CancellingServices) {
	return {
		/** Cancels all active executions of automations that were disabled. A repeated call cancels the rest. */
		cancelExecutionsOf: ({ projectId, automationIds }: Cancelling): Promise<number> =>
			withHeartbeat(async () => {
				const reason = 'The account has a new owner'
				await awaitStarts(pool, { projectId, automationIds })
				let total = 0
				for (const id of automationIds)
					total += await cancelExecutions(pool, projectId, id, reason, taskQueues.core)
				relay.wake()
				return total
			}),
	}
}

export interface Cancelling {
	projectId: string
	automationIds: string[]
}
