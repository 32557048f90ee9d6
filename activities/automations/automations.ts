import type { Pool } from 'pg'
import { type ExecutionKey, failExecution } from '../../db/executions/execution-advancing.ts'
import { cancelOne } from '../../db/executions/execution-cancelling.ts'
import { createFairTurns } from '../../db/fair-turns.ts'
import { permanently } from '../permanence.ts'
import { advance } from './advance.ts'
import { cancellingActivities } from './cancelling.ts'
import { closingActivities, type ClosingServices } from './closing.ts'
import { enrolmentActivities } from './enrolment.ts'
import type { Stop } from './stop.ts'
import { callWebhook, type WebhookServices } from './webhook-step.ts'

/** Each holds a connection while it renders templates. */
export const movesAtOnce = 10
/** A project with slow templates leaves connections to others. Its moves wait less long than Temporal for a move. */
const turns = { atOnce: movesAtOnce, ofOne: 7, waiting: Infinity, patienceMs: 8000 }

type ShownStop = Stop & { isShown: boolean }

interface CallServices {
	/** For the calls of WEBHOOK steps. */
	callPool: Pool
}

interface SearchServices {
	/** Whether Temporal knows the search attributes that executions set. */
	showsStops?: boolean
}

export function automationActivities(
	services: WebhookServices & ClosingServices & CallServices & SearchServices,
) {
	const { pool, callPool, showsStops = false } = services
	const inTurn = createFairTurns(turns)
	return {
		...cancellingActivities(services),
		...closingActivities(services),
		...enrolmentActivities(services),

		/**
		 * Moves to the next stop; see `advance`. Temporal records `isShown`, so a replay makes the same choice.
		 */
		advanceExecution: (key: ExecutionKey, done: number): Promise<ShownStop> =>
			permanently(async () => {
				const stop = await inTurn(key.projectId, () => advance(services, key, done))
				return { ...stop, isShown: showsStops }
			}),

		/** Does the part of a step that reaches outside the database. */
		performStep: (key: ExecutionKey, visit: number) =>
			permanently(() => callWebhook({ ...services, pool: callPool }, key, visit)),

		async failExecution({ projectId, executionId }: ExecutionKey, error: string) {
			await failExecution(pool, { projectId, executionId, error: error.slice(0, 1000) })
		},

		async cancelExecution({ projectId, executionId }: ExecutionKey, reason: string) {
			await cancelOne(pool, {
				projectId,
				executionId,
				automationId: null,
				reason,
				closesRun: false,
			})
		},
	}
}
