import type { Pool, PoolClient } from 'pg'
import { nextAct, type Position } from '../../db/automations/automation-interpreter.ts'
import type { ContactRow } from '../../db/contacts/contact-record.ts'
import { takeTurn } from '../../db/event-loop.ts'
import {
	type ExecutionKey,
	lockContact,
	lockExecution,
	moveExecution,
	outputsOf,
	stepsSincePause,
	type StoppedExecution,
} from '../../db/executions/execution-advancing.ts'
import { activeStatuses } from '../../db/executions/execution.ts'
import { maxReadBytes } from '../../db/executions/step-output.ts'
import { transaction } from '../../db/transaction.ts'
import { type End, factsOf, type Journey } from './journey.ts'
import { perform } from './step-acts.ts'
import type { StepSettings } from './step-mail.ts'
import { currentStop, isResting, settled, type Stop, stopOf } from './stop.ts'

export interface AdvanceServices {
	pool: Pool
	relay: { wake(): void }
	settings: StepSettings
}

/**
 * For the steps of one move. It holds a connection and locks the contact, and Temporal waits for it for 20 seconds. One
 * template may take half a second, so hundreds of steps continue in further moves.
 */
const mostMsOfMove = 5000

/** A move rests after so many events that end waits at once, as after a long time. */
const mostEventsOfMove = 2000

/**
 * Moves an execution to its next stop. Steps that need only the database run in one transaction, unless they take long.
 * `done` is the visit whose time is over, as the workflow has seen it; 0 asks for the current stop. After a
 * crash, a repeated call returns the stop that was reached.
 */
export async function advance(
	{ pool, relay, settings }: AdvanceServices,
	key: ExecutionKey,
	done: number,
	mostMs = mostMsOfMove,
	mostEvents = mostEventsOfMove,
): Promise<Stop> {
	const { stop, hasMail } = await transaction(pool, async (db) => {
		const ids = { projectId: key.projectId, executionId: key.executionId }
		const [contact] = await lockContact(db, ids)
		const [execution] = await lockExecution(db, ids)
		if (!execution || !contact || !isActive(execution))
			return { stop: ended(execution), hasMail: false }
		const journey = await beginJourney(db, key, execution, contact)
		const position = execution.isDisabled ? 'disabled' : settled(journey, done)
		if (position === 'waiting') return { stop: currentStop(execution), hasMail: false }
		const end =
			position === 'disabled'
				? ({ status: 'CANCELLED', reason: 'Project disabled' } as const)
				: await walk(db, journey, position, { settings, mostMs, mostEvents })
		await write(db, journey, end)
		return { stop: stopOf(journey, end), hasMail: journey.hasMail }
	})
	if (hasMail) relay.wake()
	return stop
}

const isActive = ({ status }: StoppedExecution) =>
	(activeStatuses as readonly string[]).includes(status)

const ended = (execution: StoppedExecution | undefined): Stop => ({
	do: 'END',
	about: execution ? execution.status : 'deleted',
})

/** Collects what the execution knows so far. */
export async function beginJourney(
	db: Pool | PoolClient,
	key: ExecutionKey,
	execution: StoppedExecution,
	contact: ContactRow,
): Promise<Journey> {
	const { visit, event, stopReachedAt } = execution
	const outputs =
		visit === 0
			? []
			: await outputsOf(db, {
					projectId: key.projectId,
					executionId: key.executionId,
					stepIds: execution.definition.steps.map(({ id }) => id),
					maxBytes: maxReadBytes,
				})
	return {
		key,
		execution,
		contact,
		event,
		outputs: new Map(outputs.map(({ stepId, output }) => [stepId, output])),
		reachedAt: stopReachedAt,
		stopReachedAt,
		heard: event ? [event.id] : [],
		visit,
		visits: [],
		hasMail: false,
	}
}

async function walk(
	db: PoolClient,
	journey: Journey,
	start: Position,
	{ settings, mostMs, mostEvents }: { settings: StepSettings; mostMs: number; mostEvents: number },
): Promise<End> {
	const endsAt = performance.now() + mostMs
	let position = start
	let events = 0
	for (let hops = await hopsBefore(db, journey); ; hops++) {
		// Hundreds of conditions may follow each other without asking the database.
		await takeTurn()
		const act = nextAct(journey.execution.definition, position, factsOf(journey), hops)
		const next = await perform(db, journey, act, settings)
		if ('status' in next) return next
		// A wait that is over at once was a pause all the same: each event ends one.
		if (act.do === 'wait') {
			hops = 0
			events++
		}
		position = { at: 'done', ...next }
		if (events >= mostEvents || performance.now() >= endsAt)
			return { status: 'RUNNING', restsAfter: next.stepId }
	}
}

/** Those of the moves before count, if there was no pause in between: a circle would turn for ever. */
async function hopsBefore(db: PoolClient, journey: Journey) {
	if (!isResting(journey)) return 0
	const { projectId, executionId } = journey.key
	const [steps] = await stepsSincePause(db, { projectId, executionId })
	return steps!.count
}

async function write(db: PoolClient, journey: Journey, end: End) {
	const { key, execution, visits, visit, event } = journey
	await moveExecution(db, {
		projectId: key.projectId,
		executionId: key.executionId,
		visits,
		status: end.status,
		stepId: visits.at(-1)?.stepId ?? execution.currentStepId,
		visit,
		exitReason: 'reason' in end ? end.reason : null,
		error: end.status === 'FAILED' ? end.error : null,
		event,
		waitsFor:
			end.status === 'WAITING' && end.step.type === 'WAIT_FOR_EVENT'
				? end.step.config.eventName
				: null,
		wakesInMs: end.status === 'WAITING' ? end.ms : null,
	})
}
