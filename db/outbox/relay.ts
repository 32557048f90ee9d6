import {
	type Client,
	WorkflowExecutionAlreadyStartedError,
	WorkflowNotFoundError,
} from '@temporalio/client'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { type AutomationKey, syncSchedule } from '../automations/automation-schedules.ts'
import { inTime } from '../in-time.ts'
import { claimOutbox, claimSends, markDone, markFailed, type OutboxRow } from './claims.ts'
import { claimWebhooks } from '../webhooks/webhook-turns.ts'
import { startReleasing } from './due-sends.ts'
import { restartLost } from './lost-runs.ts'
import { priorities } from './outbox.ts'
import { keywords } from './search-attributes.ts'

export interface Relay {
	/** Look for new rows now. Never throws and never waits. */
	wake(): void
	/** Look for sends only: a project may start another run. */
	wakeSends(): void
	stop(): Promise<void>
}

/** What a pass has dispatched, and whether it left more that could be. */
interface Pass {
	found: number
	hasMore: boolean
}

interface RelayServices {
	pool: Pool
	temporal: Pick<Client, 'workflow' | 'schedule' | 'connection' | 'withDeadline'>
	/**
	 * A client on the connection of this process's workers, while they run. Runs that it starts can begin here at once:
	 * the first task comes with Temporal's answer, not through a queue.
	 */
	workersClient?: () => Pick<Client, 'workflow' | 'withDeadline'> | null
	/** The queue for workflows that the relay starts itself, and for those of Schedules. */
	workflowTaskQueue: string
	log: { warn(fields: object, message: string): void }
	/** Runs each call to Temporal as part of the trace that caused it. */
	follow?: (row: OutboxRow, telling: () => Promise<unknown>) => Promise<unknown>
}

const requestsPerRun = 500
const mailsPerRun = 2000
const newRunsPerProject = 2
const runsPerProject = 8
const rowsAtOnce = 50
const startsAtOnce = 50
const lockSeconds = 1.5
const rpcDeadlineMs = 5000
/** The workers' connection may be broken although Temporal is well. Then the ordinary one is tried. */
const eagerStartMs = 1000
const sweepMs = 1000
const reconcileMs = 60_000
/** While runs are full, a busy API must not cause a query after each request. */
const restMs = 20

/**
 * Sends the outbox to Temporal: at least once, in no order, from any number of workers. Ids are derived
 * from rows, so a second start finds the first run, and a row is claimed before its call.
 */
export function startRelay(services: RelayServices): Relay {
	const { pool, temporal, workersClient, workflowTaskQueue, log } = services
	const follow = services.follow ?? ((_row, telling) => telling())
	let stopped = false
	let looking: Promise<void> | null = null
	const underWay = new Set<string>()
	const starts = new Set<Promise<unknown>>()
	let room = Promise.withResolvers<void>()

	async function passSends(): Promise<Pass> {
		const sends = await claimSends(pool, {
			requestsPerRun,
			mailsPerRun,
			newRunsPerProject,
			lockSeconds,
			taskQueue: workflowTaskQueue,
			runsPerProject,
		})
		// A later send need not wait until these are started, unless many are still being started.
		for (const send of sends) {
			const starting = dispatch(send)
				.catch((error: unknown) => {
					log.warn({ workflowId: send.workflow_id, err: error }, 'a dispatch could not be recorded')
				})
				.finally(() => {
					starts.delete(starting)
					if (starts.size < startsAtOnce) room.resolve()
				})
			starts.add(starting)
		}
		if (starts.size >= startsAtOnce) {
			room = Promise.withResolvers()
			await room.promise
		}
		return { found: sends.length, hasMore: sends.some((send) => send.hasMore) }
	}

	async function passOutbox(): Promise<Pass> {
		const rows = await claimOutbox(pool, { limit: rowsAtOnce, lockSeconds })
		const told = await Promise.all(rows.map(dispatch))
		// While Temporal refuses all of them, the sweep tries others: the rest need not be hurried through.
		return { found: rows.length, hasMore: told.some(Boolean) }
	}

	async function passWebhooks(): Promise<Pass> {
		const calls = await claimWebhooks(pool, { lockSeconds, taskQueue: workflowTaskQueue })
		const told = await Promise.all(calls.map(dispatch))
		return { found: calls.length, hasMore: told.some(Boolean) }
	}

	/** Whether Temporal has taken it. */
	async function dispatch(row: OutboxRow): Promise<boolean> {
		// A call that takes long is claimed again, in case this process died.
		if (underWay.has(row.id)) return false
		underWay.add(row.id)
		try {
			await follow(row, () => tell(row))
			await markDone(pool, { outboxIds: [row.id] })
			return true
		} catch (error) {
			// Temporal is unavailable or overloaded, or refuses this row: the row waits and stores the reason.
			const seconds = Math.min(0.5 * 2 ** Math.min(row.attempts, 10), 10)
			log.warn(
				{ workflowId: row.workflow_id, attempts: row.attempts, err: error },
				'dispatch failed',
			)
			await markFailed(pool, { outboxId: row.id, error: String(error).slice(0, 1000), seconds })
			return false
		} finally {
			underWay.delete(row.id)
		}
	}

	async function tell(row: OutboxRow) {
		const deadline = Date.now() + rpcDeadlineMs
		const local = isUrgent(row) ? workersClient?.() : null
		if (local && (await startHere(local, row, deadline))) return
		return temporal.withDeadline(deadline, () =>
			row.kind === 'schedule'
				? syncSchedule(pool, temporal, row.payload as AutomationKey, workflowTaskQueue)
				: callTemporal(temporal, row),
		)
	}

	/** Passes one after the other, as long as one leaves something or was woken meanwhile. */
	function repeated(pass: () => Promise<Pass>) {
		let woken = false
		let running: Promise<void> | null = null

		async function run() {
			try {
				while (woken && !stopped) {
					woken = false
					const { found, hasMore } = await pass()
					if (hasMore) woken = true
					else if (woken && found === 0) await sleep(restMs)
				}
			} catch (error) {
				// The database is unavailable; the sweep tries again.
				log.warn({ err: error }, 'the outbox could not be read')
			} finally {
				running = null
			}
		}

		return {
			wake() {
				woken = true
				if (!stopped) running ??= run()
			},
			ended: () => running,
		}
	}

	// Each by itself: mail does not wait for other calls, or until the endpoints with work are found.
	const loops = [repeated(passSends), repeated(passOutbox), repeated(passWebhooks)] as const
	const [sends] = loops

	function wake() {
		for (const loop of loops) loop.wake()
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
			log.warn({ count }, 'Temporal has lost these runs: they are started again')
			wake()
		} catch (error) {
			log.warn({ err: error }, 'reconciliation failed')
		}
	}

	/** One check at a time, however long it takes. */
	function reconcile() {
		looking ??= lookForLost().finally(() => {
			looking = null
		})
	}

	const releasing = startReleasing({ pool, workflowTaskQueue, log, released: wake })
	const sweep = setInterval(wake, sweepMs)
	const reconciliation = setInterval(reconcile, reconcileMs)
	wake()
	return {
		wake,
		wakeSends: sends.wake,
		async stop() {
			stopped = true
			clearInterval(sweep)
			clearInterval(reconciliation)
			await Promise.all([...loops.map((loop) => loop.ended()), looking, releasing.stop()])
			await Promise.all(starts)
		},
	}
}

/**
 * Whether the run was started at once. The workers' connection keeps retrying, so the call goes on even if not, and may
 * still succeed.
 */
async function startHere(
	local: Pick<Client, 'workflow' | 'withDeadline'>,
	row: OutboxRow,
	deadline: number,
) {
	const call = () => start(local, row, { requestEagerStart: true })
	const started = local.withDeadline(deadline, call).then(() => true)
	return (await inTime(eagerStartMs, started)) ?? false
}

async function callTemporal(temporal: RelayServices['temporal'], row: OutboxRow) {
	const handle = temporal.workflow.getHandle(row.workflow_id)
	try {
		if (row.kind === 'start') return await start(temporal, row)
		if (row.kind === 'terminate') return await handle.terminate(row.summary ?? undefined)
		const { name, argument } = row.payload as { name: string; argument: unknown }
		if (row.workflow_type === null) return await handle.signal(name, argument)
		const options = { ...startOf(row, argument), signal: name, signalArgs: [argument] }
		return await temporal.workflow.signalWithStart(row.workflow_type, options)
	} catch (error) {
		// The run no longer exists: that is the row's intention, or the row no longer matters.
		if (row.workflow_type === null && error instanceof WorkflowNotFoundError) return
		throw error
	}
}

/**
 * Such a start overtakes the queue, so only runs of the highest priority have it. A second try goes another way: the
 * first one may still be going on.
 */
const isUrgent = ({ kind, priority, attempts }: OutboxRow) =>
	kind === 'start' && priority === priorities.transactional && attempts === 1

async function start(
	temporal: Pick<Client, 'workflow'>,
	row: OutboxRow,
	options: { requestEagerStart?: boolean } = {},
) {
	try {
		await temporal.workflow.start(row.workflow_type!, {
			...startOf(row, row.payload),
			...options,
		})
	} catch (error) {
		if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
	}
}

const startOf = (row: OutboxRow, argument: unknown) => ({
	workflowId: row.workflow_id,
	taskQueue: row.task_queue!,
	args: [argument],
	// A closed run may be started again, because its work is guarded by the rows, not by its id. A running
	// one is the wanted run.
	workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
	workflowIdConflictPolicy: 'USE_EXISTING' as const,
	priority: { priorityKey: row.priority, fairnessKey: row.project_id },
	typedSearchAttributes: keywords({ ProjectId: row.project_id, ...row.search_attributes }),
	...(row.summary === null ? {} : { staticSummary: row.summary }),
})
