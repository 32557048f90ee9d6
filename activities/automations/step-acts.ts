import type { PoolClient } from 'pg'
import type { DefinedStep } from '../../db/automations/automation-definition.ts'
import type { Act } from '../../db/automations/automation-interpreter.ts'
import { compileWhole } from '../../db/conditions/condition-segments.ts'
import type { Condition } from '../../db/conditions/condition.ts'
import { isMatching } from '../../db/contacts/matching-contacts.ts'
import { eventSince, type StoppedExecution } from '../../db/executions/execution-advancing.ts'
import type { HeardEvent } from '../../db/executions/execution.ts'
import { continueFrom, type End, type Journey, take } from './journey.ts'
import { sendStepMail, type StepSettings } from './step-mail.ts'
import { updateContact } from './step-update.ts'

/** Performs one act. Returns the finished step and its branch, or the end of the move. */
export async function perform(
	db: PoolClient,
	journey: Journey,
	act: Act,
	settings: StepSettings,
): Promise<End | { stepId: string; branch: string | null }> {
	const { key, execution } = journey
	switch (act.do) {
		case 'begin':
			take(journey, act.step, 'COMPLETED', { output: triggerOutput(execution) })
			return { stepId: act.step.id, branch: null }
		case 'send':
		case 'update': {
			const error =
				act.do === 'send'
					? await sendStepMail(db, journey, act.step, settings)
					: await updateContact(db, journey, act.step, settings.publicUrl)
			if (error === null) return { stepId: act.step.id, branch: null }
			return fail(journey, act.step, error)
		}
		case 'branch':
		case 'ask': {
			const branch = act.do === 'branch' ? act.branch : await ask(db, journey, act.condition)
			if (branch === null)
				return fail(journey, act.step, 'The condition uses a segment that was deleted')
			take(journey, act.step, 'COMPLETED', { output: { branch } })
			return { stepId: act.step.id, branch }
		}
		case 'call':
			take(journey, act.step, 'RUNNING')
			return { status: 'RUNNING', step: act.step }
		case 'sleep': {
			const { step, ms } = act
			const resumeAt = new Date(execution.now.getTime() + ms).toISOString()
			take(journey, step, 'WAITING', { output: { resumeAt }, wakesInMs: ms })
			return { status: 'WAITING', step, ms }
		}
		case 'wait': {
			const { step, timeoutMs: ms } = act
			const { eventName, since } = step.config
			const from = since === 'start' ? execution.startedAt : journey.stopReachedAt
			const ids = { projectId: key.projectId, executionId: key.executionId }
			const [event] = await eventSince(db, {
				...ids,
				eventName,
				since: from,
				heardIds: journey.heard,
			})
			if (!event) {
				take(journey, step, 'WAITING', { wakesInMs: ms })
				return { status: 'WAITING', step, ms }
			}
			journey.event = event
			journey.heard.push(event.id)
			take(journey, step, 'COMPLETED', { output: receivedOutput(event), eventId: event.id })
			continueFrom(journey, new Date(event.createdAt))
			return { stepId: step.id, branch: 'event' }
		}
		case 'exit': {
			const { reason } = act.step.config
			take(journey, act.step, 'COMPLETED', { output: { reason } })
			return { status: 'EXITED', reason }
		}
		case 'complete':
			return { status: 'COMPLETED' }
		case 'fail':
			return fail(journey, act.step, act.error)
	}
}

function fail(journey: Journey, step: DefinedStep | null, error: string): End {
	if (step) take(journey, step, 'FAILED', { error })
	return { status: 'FAILED', error }
}

const triggerOutput = ({ event, startedAt }: StoppedExecution) => ({
	triggered: true,
	eventName: event?.name ?? null,
	timestamp: event?.createdAt ?? startedAt.toISOString(),
})

export const receivedOutput = ({ name, data, createdAt }: HeardEvent) => ({
	eventName: name,
	eventData: data,
	receivedAt: createdAt,
})

/**
 * Locks the contact, so that the answer stays true until the move is written. Null: the condition can't be
 * answered, because a failed execution doesn't keep the segments of its version from being deleted.
 */
async function ask(db: PoolClient, { key, contact }: Journey, condition: Condition) {
	const predicate = await compileWhole(db, key.projectId, condition)
	if (!predicate) return null
	return (await isMatching(db, key.projectId, contact.id, predicate)) ? 'yes' : 'no'
}
