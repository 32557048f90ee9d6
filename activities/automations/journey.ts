import type { Facts } from '../../db/automations/automation-comparison.ts'
import type { DefinedStep } from '../../db/automations/automation-definition.ts'
import type { Step } from '../../db/automations/automation-interpreter.ts'
import type { ContactRow } from '../../db/contacts/contact-record.ts'
import type {
	ExecutionKey,
	StoppedExecution,
	Visit,
} from '../../db/executions/execution-advancing.ts'
import type { HeardEvent } from '../../db/executions/execution.ts'
import { stopTypes } from '../../db/executions/execution-step.ts'
import { type Links, variablesFor } from '../../mail/liquid/variables.ts'

type Output = Record<string, unknown>

/** What an execution knows while it moves, and what it has done in this move. */
export interface Journey {
	key: ExecutionKey
	execution: StoppedExecution
	contact: ContactRow
	event: HeardEvent | null
	outputs: Map<string, Output>
	/**
	 * When the execution came to its present place: when the event, the time or the call before it was over, however
	 * late a worker continues. Otherwise events that arrive in between would be missed.
	 */
	reachedAt: Date
	/** When it came to the last stop. Events since then count for a wait. */
	stopReachedAt: Date
	/** Events that have ended a wait; they must not end the next wait too. */
	heard: string[]
	visit: number
	visits: Visit[]
	hasMail: boolean
}

/** Why the execution has stopped moving. */
export type End =
	| { status: 'RUNNING'; step: Step<'WEBHOOK'> }
	/** Between two steps: the next move continues. */
	| { status: 'RUNNING'; restsAfter: string }
	| { status: 'WAITING'; step: Step<'DELAY'>; ms: number }
	| { status: 'WAITING'; step: Step<'WAIT_FOR_EVENT'>; ms: number | null }
	| { status: 'COMPLETED' }
	| { status: 'EXITED' | 'CANCELLED'; reason: string | null }
	| { status: 'FAILED'; error: string }

/** Adds a visit to a step and makes it the execution's current step. */
export function take(
	journey: Journey,
	step: DefinedStep,
	status: Visit['status'],
	rest: Partial<Visit> = {},
) {
	journey.visit += 1
	const { visit, reachedAt } = journey
	journey.visits.push({ visit, stepId: step.id, type: step.type, status, reachedAt, ...rest })
	if (isStop(step)) journey.stopReachedAt = reachedAt
	if (rest.output) journey.outputs.set(step.id, rest.output)
}

const isStop = ({ type }: DefinedStep) => stopTypes.some((stop) => stop === type)

/** Goes on from a moment, or from the present one if that is later. */
export function continueFrom(journey: Journey, moment: Date) {
	if (moment > journey.reachedAt) journey.reachedAt = moment
}

/** The values that conditions can use. */
export const factsOf = (journey: Journey): Facts => {
	const { contact, execution } = journey
	const { createdAt, updatedAt, ...person } = contact
	return {
		contact: {
			...person,
			createdAt: createdAt.toISOString(),
			updatedAt: updatedAt.toISOString(),
		},
		data: { ...contact.data, ...execution.context },
		...surroundings(journey),
	}
}

/** The values that templates can use. The context of a manual start takes precedence over stored data. */
export const variablesOf = (journey: Journey, links: Links) =>
	variablesFor(journey.contact, links, journey.execution.context, surroundings(journey))

function surroundings({ key, execution, event, outputs }: Journey) {
	const steps: Record<string, Output> = {}
	// If a step's name equals another step's id, the id wins.
	for (const { id, name } of execution.definition.steps) steps[name] = outputs.get(id) ?? {}
	for (const { id } of execution.definition.steps) steps[id] = outputs.get(id) ?? {}
	return {
		event: event?.data ?? {},
		workflow: { id: execution.automationId, name: execution.automationName },
		execution: { id: key.executionId, startedAt: execution.startedAt.toISOString() },
		steps,
	}
}
