import type { Facts } from '../../db/automations/automation-comparison.ts'
import type { DefinedStep } from '../../db/automations/automation-definition.ts'
import type { Step } from '../../db/automations/automation-interpreter.ts'
import type { ContactRecord } from '../../db/contacts/contact-record.ts'
import type {
	ExecutionKey,
	StandingExecution,
	Visit,
} from '../../db/executions/execution-advancing.ts'
import type { HeardEvent } from '../../db/executions/execution.ts'
import { type Links, variablesFor } from '../rendering/variables.ts'

type Output = Record<string, unknown>

/** What an execution knows while it moves, and what it has done since it began to move. */
export interface Journey {
	key: ExecutionKey
	execution: StandingExecution
	contact: ContactRecord
	event: HeardEvent | null
	outputs: Map<string, Output>
	/** When time last passed: since then events count for a wait. */
	stopBeganAt: Date
	/** Events that have ended a wait, so that they do not end the next one too. */
	heard: string[]
	visit: number
	visits: Visit[]
	hasMail: boolean
}

/** Why the walk is over. */
export type End =
	| { status: 'RUNNING'; step: Step<'WEBHOOK'> }
	| { status: 'WAITING'; step: Step<'DELAY'>; ms: number }
	| { status: 'WAITING'; step: Step<'WAIT_FOR_EVENT'>; ms: number | null }
	| { status: 'COMPLETED' }
	| { status: 'EXITED' | 'CANCELLED'; reason: string | null }
	| { status: 'FAILED'; error: string }

/** Notes a visit to a step, which is now where the execution stands. */
export function take(
	journey: Journey,
	step: DefinedStep,
	status: Visit['status'],
	rest: Partial<Visit> = {},
) {
	journey.visit += 1
	journey.visits.push({ visit: journey.visit, stepId: step.id, type: step.type, status, ...rest })
	if (rest.output) journey.outputs.set(step.id, rest.output)
}

/** What conditions can name. */
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

/** What templates can name: the context of a manual start comes before what is stored. */
export const variablesOf = (journey: Journey, links: Links) =>
	variablesFor(journey.contact, links, journey.execution.context, surroundings(journey))

function surroundings({ key, execution, event, outputs }: Journey) {
	const steps: Record<string, Output> = {}
	// Where a name is an id of another step, the id counts.
	for (const { id, name } of execution.definition.steps) steps[name] = outputs.get(id) ?? {}
	for (const { id } of execution.definition.steps) steps[id] = outputs.get(id) ?? {}
	return {
		event: event?.data ?? {},
		workflow: { id: execution.automationId, name: execution.automationName },
		execution: { id: key.executionId, startedAt: execution.startedAt.toISOString() },
		steps,
	}
}
