import {
	type Client,
	WorkflowExecutionAlreadyStartedError,
	WorkflowNotFoundError,
} from '@temporalio/client'
import type { Pool } from 'pg'
import { type AutomationKey, syncSchedule } from '../automations/automation-schedules.ts'
import { claimOutbox, claimSends, markDone, markFailed, type OutboxRow } from './claims.ts'
import { restartLost } from './lost-runs.ts'
import { priorities } from './outbox.ts'
import { keywords } from './search-attributes.ts'

export interface Relay {
	/** Something was committed: look now. Never throws, never waits. */
	wake(): void
	stop(): Promise<void>
}

interface RelayServices {
	pool: Pool
	temporal: Pick<Client, 'workflow' | 'schedule' | 'connection' | 'withDeadline'>
	/** Where workflows run: those that the relay starts by itself, and those of Schedules. */
	workflowTaskQueue: string
	log: { warn(fields: object, message: string): void }
	/** Follows what is told as a part of what it came from. */
	follow?: (row: OutboxRow, telling: () => Promise<unknown>) => Promise<unknown>
}

const requestsPerRun = 500
const mailsPerRun = 2000
const newRunsPerProject = 2
const runsPerProject = 8
const rowsAtOnce = 50
const lockSeconds = 1.5
const rpcDeadlineMs = 5000
const sweepMs = 1000
const reconcileMs = 60_000
/** While runs are full, a busy API must not ask the database after each of its requests. */
const restMs = 20

/**
 * Tells Temporal what the outbox says. At least once, in no order, by any number of processes: ids
 * are made from rows, so a second start finds the first one, and a row is claimed before its call.
 */
export function startRelay(services: RelayServices): Relay {
	const { pool, temporal, workflowTaskQueue, log, follow = (_row, telling) => telling() } = services
	let stopped = false
	let woken = false
	let running: Promise<void> | null = null
	let looking: Promise<void> | null = null

	async function pass() {
		const claimed = await Promise.all([
			claimSends(pool, [
				requestsPerRun,
				mailsPerRun,
				newRunsPerProject,
				lockSeconds,
				workflowTaskQueue,
				priorities.transactional,
				runsPerProject,
			]),
			claimOutbox(pool, [rowsAtOnce, lockSeconds]),
		])
		const rows = claimed.flat()
		await Promise.all(rows.map(dispatch))
		return rows.length
	}

	async function dispatch(row: OutboxRow) {
		try {
			await follow(row, () =>
				temporal.withDeadline(Date.now() + rpcDeadlineMs, () =>
					row.kind === 'schedule'
						? syncSchedule(pool, temporal, row.payload as AutomationKey, workflowTaskQueue)
						: tell(temporal, row),
				),
			)
			await markDone(pool, [[row.id]])
		} catch (error) {
			// Temporal is away, overloaded, or refuses this row: the row waits and says why.
			const seconds = Math.min(0.5 * 2 ** Math.min(row.attempts, 10), 10)
			log.warn(
				{ workflowId: row.workflow_id, attempts: row.attempts, err: error },
				'dispatch failed',
			)
			await markFailed(pool, [row.id, String(error).slice(0, 1000), seconds])
		}
	}

	async function run() {
		try {
			while (woken && !stopped) {
				woken = false
				const found = await pass()
				if (found > 0) woken = true
				else if (woken) await new Promise((resolve) => setTimeout(resolve, restMs))
			}
		} catch (error) {
			// The database is away; the sweep tries again.
			log.warn({ err: error }, 'the outbox could not be read')
		}
	}

	function wake() {
		woken = true
		if (stopped || running) return
		running = run().finally(() => {
			running = null
		})
	}

	async function lookForLost() {
		try {
			const count = await restartLost({
				pool,
				temporal,
				workflowTaskQueue,
				isStopped: () => stopped,
			})
			if (count === 0) return
			log.warn({ count }, 'Temporal does not know these runs: they start again')
			wake()
		} catch (error) {
			log.warn({ err: error }, 'reconciliation failed')
		}
	}

	/** One look at a time, however long it takes. */
	function reconcile() {
		looking ??= lookForLost().finally(() => {
			looking = null
		})
	}

	const sweep = setInterval(wake, sweepMs)
	const reconciliation = setInterval(reconcile, reconcileMs)
	wake()
	return {
		wake,
		async stop() {
			stopped = true
			clearInterval(sweep)
			clearInterval(reconciliation)
			await Promise.all([running, looking])
		},
	}
}

async function tell(temporal: RelayServices['temporal'], row: OutboxRow) {
	const handle = temporal.workflow.getHandle(row.workflow_id)
	try {
		if (row.kind === 'start') return await start(temporal, row)
		if (row.kind === 'terminate') return await handle.terminate(row.summary ?? undefined)
		const { name, argument } = row.payload as { name: string; argument: unknown }
		if (row.workflow_type === null) return await handle.signal(name, argument)
		const options = { ...startOf(row, argument), signal: name, signalArgs: [argument] }
		return await temporal.workflow.signalWithStart(row.workflow_type, options)
	} catch (error) {
		// Nobody is there any more to be told: that is what the row wanted, or it no longer matters.
		if (row.workflow_type === null && error instanceof WorkflowNotFoundError) return
		throw error
	}
}

async function start(temporal: RelayServices['temporal'], row: OutboxRow) {
	try {
		await temporal.workflow.start(row.workflow_type!, startOf(row, row.payload))
	} catch (error) {
		if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
	}
}

const startOf = (row: OutboxRow, argument: unknown) => ({
	workflowId: row.workflow_id,
	taskQueue: row.task_queue!,
	args: [argument],
	// A closed run may be started again (its work is guarded by the rows, not by its id); a running one
	// is the one we want.
	workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
	workflowIdConflictPolicy: 'USE_EXISTING' as const,
	priority: { priorityKey: row.priority, fairnessKey: row.project_id },
	typedSearchAttributes: keywords({ ProjectId: row.project_id, ...row.search_attributes }),
	...(row.summary === null ? {} : { staticSummary: row.summary }),
})
