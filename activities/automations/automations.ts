import type { Pool } from 'pg'
import { type ExecutionKey, failExecution } from '../../db/executions/execution-advancing.ts'
import { cancelOne } from '../../db/executions/execution-cancelling.ts'
import { createFairTurns, TurnsBusy } from '../../db/fair-turns.ts'
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
/** The task of a workflow keeps its slot while it waits, and single mails need those slots, too. */
const quickPatienceMs = 200

type ShownStop = Stop & { isShown: boolean }
type Queued = { do: 'QUEUE' }

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

	/** Temporal records `isShown`, so a replay makes the same choice. */
	const move = (key: ExecutionKey, done: number, patienceMs?: number): Promise<ShownStop> =>
		permanently(async () => {
			const work = () => advance(services, key, done)
			return { ...(await inTurn(key.projectId, work, patienceMs)), isShown: showsStops }
		})

	return {
		...cancellingActivities(services),
		...closingActivities(services),
		...enrolmentActivities(services),

		/**
		 * Moves to the next stop; see `advance`. While moves of its project are slow, it waits for its turn in a queue of
		 * its own.
		 */
		advanceExecution: (key: ExecutionKey, done: number): Promise<ShownStop | Queued> =>
			move(key, done, quickPatienceMs).catch((error: unknown) => {
				if (error instanceof TurnsBusy) return { do: 'QUEUE' }
				throw error
			}),

		/** The same for an execution that has waited in the queue. */
		advanceInTurn: (key: ExecutionKey, done: number) => move(key, done),

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
