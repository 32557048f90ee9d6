import type { Pool, PoolClient } from 'pg'
import { nextAct, type Position } from '../../db/automations/automation-interpreter.ts'
import type { ContactRecord } from '../../db/contacts/contact-record.ts'
import {
	type ExecutionKey,
	lockContact,
	lockExecution,
	moveExecution,
	outputsOf,
	type StandingExecution,
} from '../../db/executions/execution-advancing.ts'
import { activeStatuses } from '../../db/executions/execution.ts'
import { transaction } from '../../db/transaction.ts'
import { type End, factsOf, type Journey } from './journey.ts'
import { perform } from './step-acts.ts'
import type { StepSettings } from './step-mail.ts'
import { settled, standingStop, type Stop, stopOf } from './stop.ts'

export interface AdvanceServices {
	pool: Pool
	relay: { wake(): void }
	settings: StepSettings
}

/**
 * Moves an execution from where it stands to its next stop: all steps that need nothing but the database,
 * in one transaction. `done` is the visit whose time is over, as the workflow has seen it; 0 asks where
 * it stands. Asked again after a crash, it answers the stop that it has come to.
 */
export async function advance(
	{ pool, relay, settings }: AdvanceServices,
	key: ExecutionKey,
	done: number,
): Promise<Stop> {
	const { stop, hasMail } = await transaction(pool, async (db) => {
		const ids = [key.projectId, key.executionId]
		const [contact] = await lockContact(db, ids)
		const [execution] = await lockExecution(db, ids)
		if (!execution || !contact || !isActive(execution))
			return { stop: ended(execution), hasMail: false }
		const journey = await beginJourney(db, key, execution, contact)
		const position = execution.isDisabled ? 'disabled' : settled(journey, done)
		if (position === 'standing') return { stop: standingStop(execution), hasMail: false }
		const end =
			position === 'disabled'
				? ({ status: 'CANCELLED', reason: 'Project disabled' } as const)
				: await walk(db, journey, position, settings)
		await write(db, journey, end)
		return { stop: stopOf(journey, end), hasMail: journey.hasMail }
	})
	if (hasMail) relay.wake()
	return stop
}

const isActive = ({ status }: StandingExecution) =>
	(activeStatuses as readonly string[]).includes(status)

const ended = (execution: StandingExecution | undefined): Stop => ({
	do: 'END',
	about: execution ? execution.status : 'deleted',
})

/** What it knows by now. */
export async function beginJourney(
	db: Pool | PoolClient,
	key: ExecutionKey,
	execution: StandingExecution,
	contact: ContactRecord,
): Promise<Journey> {
	const { visit, event, stopBeganAt } = execution
	const outputs = visit === 0 ? [] : await outputsOf(db, [key.projectId, key.executionId])
	return {
		key,
		execution,
		contact,
		event,
		outputs: new Map(outputs.map(({ stepId, output }) => [stepId, output])),
		stopBeganAt,
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
	settings: StepSettings,
): Promise<End> {
	let position = start
	for (let hops = 0; ; hops++) {
		const act = nextAct(journey.execution.definition, position, factsOf(journey), hops)
		const next = await perform(db, journey, act, settings)
		if ('status' in next) return next
		position = { at: 'done', ...next }
	}
}

async function write(db: PoolClient, journey: Journey, end: End) {
	const { key, execution, visits, visit, event } = journey
	await moveExecution(db, [
		key.projectId,
		key.executionId,
		JSON.stringify(visits),
		end.status,
		visits.at(-1)?.stepId ?? execution.currentStepId,
		visit,
		'reason' in end ? end.reason : null,
		end.status === 'FAILED' ? end.error : null,
		JSON.stringify(event),
		end.status === 'WAITING' && end.step.type === 'WAIT_FOR_EVENT'
			? end.step.config.eventName
			: null,
		end.status === 'WAITING' ? end.ms : null,
	])
}
