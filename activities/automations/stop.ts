import type { DefinedStep } from '../../db/automations/automation-definition.ts'
import type { Position } from '../../db/automations/automation-interpreter.ts'
import type { StoppedExecution } from '../../db/executions/execution-advancing.ts'
import { pauseTypes } from '../../db/executions/execution-step.ts'
import { continueFrom, type End, type Journey } from './journey.ts'
import { receivedOutput } from './step-acts.ts'

/** The workflow's next act. Operators see `about`, so it contains no personal data. */
export type Stop =
	| (Arrival & { do: 'CALL' })
	| (Arrival & { do: 'SLEEP'; ms: number })
	| (Arrival & { do: 'WAIT'; ms: number | null })
	| { do: 'END'; about: string; failed?: string }

interface Arrival {
	visit: number
	stepId: string
	since: Date
	about: string
}

/**
 * Whether the execution's current stop is over, and what follows. An event that has arrived beats the
 * time-out, whichever of them woke the workflow: only one of them cleared the row.
 */
export function settled(journey: Journey, done: number): Position | 'waiting' {
	const { execution, visits, outputs, heard } = journey
	const { visit, currentStepId, visitStatus, hasSlept, remainingMs, event, now } = execution
	const { visitReachedAt, visitWakesAt, visitCompletedAt } = execution
	if (visit === 0) return { at: 'start' }
	const stepId = currentStepId!
	const step = execution.definition.steps.find(({ id }) => id === stepId)!
	if (isResting(journey)) {
		continueFrom(journey, visitReachedAt!)
		const branch = step.type === 'CONDITION' ? String(outputs.get(stepId)!['branch']) : null
		return { at: 'done', stepId, branch }
	}
	// The step failed, and a retry was requested.
	if (visitStatus === 'FAILED' && !hasSlept) {
		if (visitReachedAt) continueFrom(journey, visitReachedAt)
		return { at: 'step', stepId }
	}
	const isWaiting = execution.isWaiting || hasSlept
	const isOver = hasSlept || done >= visit || (remainingMs !== null && remainingMs <= 0)
	const base = { visit, stepId, type: step.type, status: 'COMPLETED' } as const
	const woke = visitWakesAt && visitWakesAt < now ? visitWakesAt : now
	if (step.type === 'WEBHOOK') {
		if (visitStatus !== 'COMPLETED') return 'waiting'
		continueFrom(journey, visitCompletedAt!)
		return { at: 'done', stepId, branch: null }
	}
	if (step.type !== 'WAIT_FOR_EVENT') {
		if (!isOver) return 'waiting'
		visits.push(base)
		continueFrom(journey, woke)
		return { at: 'done', stepId, branch: null }
	}
	if (execution.isWaiting && (!isOver || remainingMs === null)) return 'waiting'
	const output = isWaiting ? { timedOut: true } : receivedOutput(event!)
	outputs.set(stepId, output)
	visits.push({ ...base, output, eventId: isWaiting ? null : event!.id })
	if (!isWaiting) heard.push(event!.id)
	continueFrom(journey, isWaiting ? woke : new Date(event!.createdAt))
	return { at: 'done', stepId, branch: isWaiting ? 'timeout' : 'event' }
}

/**
 * Whether the last move ended between two steps, because it took long. The execution goes on after a refused mail, and
 * that visit has an output. A mail step that can be tried again has none.
 */
export function isResting({ execution }: Journey) {
	const { definition, currentStepId, visitStatus, visitHasOutput } = execution
	const step = definition.steps.find(({ id }) => id === currentStepId)
	if (visitStatus === 'FAILED') return step?.type === 'SEND_EMAIL' && visitHasOutput
	return visitStatus === 'COMPLETED' && !pauseTypes.some((type) => type === step?.type)
}

/** The current stop again, for a repeated call. */
export function currentStop({ definition, currentStepId, ...rest }: StoppedExecution): Stop {
	const { visit, remainingMs, stopBeganAt, now } = rest
	const step = definition.steps.find(({ id }) => id === currentStepId)!
	const ms = remainingMs === null ? null : Math.max(0, Math.round(remainingMs))
	return stopAt(step, { visit, ms, now, since: stopBeganAt })
}

export function stopOf({ visit, execution: { now, definition } }: Journey, end: End): Stop {
	const begun = { visit, now, since: now }
	if ('restsAfter' in end) {
		const stepId = end.restsAfter
		const { name } = definition.steps.find(({ id }) => id === stepId)!
		const about = `${JSON.stringify(name)} is done, and the next step follows`
		return { do: 'SLEEP', visit, stepId, since: now, about, ms: 0 }
	}
	if (end.status === 'RUNNING') return stopAt(end.step, { ...begun, ms: null })
	if (end.status === 'WAITING') return stopAt(end.step, { ...begun, ms: end.ms })
	if (end.status === 'FAILED') return { do: 'END', about: 'FAILED', failed: end.error }
	const reason = 'reason' in end && end.reason !== null ? `: ${end.reason}` : ''
	return { do: 'END', about: end.status + reason }
}

interface Moment {
	visit: number
	ms: number | null
	now: Date
	since: Date
}

function stopAt(step: DefinedStep, { visit, ms, now, since }: Moment): Stop {
	const arrival = { visit, stepId: step.id, since }
	const until = ms === null ? '' : ` until ${new Date(now.getTime() + ms).toISOString()}`
	const name = JSON.stringify(step.name)
	switch (step.type) {
		case 'WEBHOOK':
			return { ...arrival, do: 'CALL', about: `${name} calls ${hostOf(step.config.url)}` }
		case 'WAIT_FOR_EVENT': {
			const event = JSON.stringify(step.config.eventName)
			return {
				...arrival,
				do: 'WAIT',
				about: `${name} waits for ${event}${until || ', for ever'}`,
				ms,
			}
		}
		default:
			return { ...arrival, do: 'SLEEP', about: `${name} sleeps${until}`, ms: ms ?? 0 }
	}
}

/** The rest of a URL may hold secrets. */
const hostOf = (url: string) => URL.parse(url)?.host ?? 'an address'
