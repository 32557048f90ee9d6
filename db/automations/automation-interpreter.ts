import type { Condition } from '../conditions/condition.ts'
import { type Facts, factAt, holds, holdsFor } from './automation-comparison.ts'
import {
	type AutomationDefinition,
	type DefinedStep,
	delayUnitSeconds,
	isBranched,
	isTree,
	type StepConfigs,
	type StepType,
} from './automation-definition.ts'
import { maxSteps } from './automation-graph.ts'

// Defines what an automation does. It uses no clock, database or randomness: the same definition, position
// and facts always give the same act, in production, simulation and replay.

export type Step<Type extends StepType> = Extract<DefinedStep, { type: Type }>

/** An execution is always at one place: before the first step, about to take a step, or done with it. */
export type Position =
	| { at: 'start' }
	| { at: 'step'; stepId: string }
	| { at: 'done'; stepId: string; branch: string | null }

export type Act =
	| { do: 'begin'; step: Step<'TRIGGER'> }
	| { do: 'send'; step: Step<'SEND_EMAIL'> }
	| { do: 'update'; step: Step<'UPDATE_CONTACT'> }
	/** Decided by the facts. */
	| { do: 'branch'; step: Step<'CONDITION'>; branch: string }
	/** Only the database can decide it: the branch is yes or no. */
	| { do: 'ask'; step: Step<'CONDITION'>; condition: Condition }
	| { do: 'call'; step: Step<'WEBHOOK'> }
	| { do: 'sleep'; step: Step<'DELAY'>; ms: number }
	| { do: 'wait'; step: Step<'WAIT_FOR_EVENT'>; timeoutMs: number | null }
	| { do: 'exit'; step: Step<'EXIT'> }
	| { do: 'complete' }
	| { do: 'fail'; step: DefinedStep | null; error: string }

/** More steps than this without a pause form a circle that the graph check has missed. */
export const hopLimit = maxSteps

/** The next act. `hops`: the number of steps taken since the last stop. */
export function nextAct(
	definition: AutomationDefinition,
	position: Position,
	facts: Facts,
	hops: number,
): Act {
	const step = stepAt(definition, position)
	if (step === null) return { do: 'complete' }
	if (step === undefined)
		return { do: 'fail', step: null, error: 'StepMissing: this version has no such step' }
	if (hops >= hopLimit)
		return { do: 'fail', step, error: `LoopDetected: ${hopLimit} steps in a row without a pause` }
	switch (step.type) {
		case 'TRIGGER':
			return { do: 'begin', step }
		case 'SEND_EMAIL':
			return { do: 'send', step }
		case 'UPDATE_CONTACT':
			return { do: 'update', step }
		case 'CONDITION':
			return decide(step, facts)
		case 'WEBHOOK':
			return { do: 'call', step }
		case 'DELAY':
			return { do: 'sleep', step, ms: delayMs(step.config) }
		case 'WAIT_FOR_EVENT': {
			const { timeout } = step.config
			return { do: 'wait', step, timeoutMs: timeout === null ? null : timeout * 1000 }
		}
		case 'EXIT':
			return { do: 'exit', step }
	}
}

/** null: the path ends. undefined: it leads to a missing step. */
function stepAt({ steps, transitions }: AutomationDefinition, position: Position) {
	if (position.at === 'start') return steps.find(({ type }) => type === 'TRIGGER')
	if (position.at === 'step') return steps.find(({ id }) => id === position.stepId)
	const { stepId, branch } = position
	const ways = transitions
		.filter((way) => way.fromStepId === stepId && leads(way.branch, branch))
		.toSorted((a, b) => a.priority - b.priority)
	return ways[0] ? steps.find(({ id }) => id === ways[0]!.toStepId) : null
}

/** A wait whose only transition has no branch continues there after the event. */
const leads = (way: string | null, branch: string | null) =>
	way === branch || (branch === 'event' && way === null)

function decide(step: Step<'CONDITION'>, facts: Facts): Act {
	const { config } = step
	if (isTree(config)) return { do: 'ask', step, condition: config }
	if (!isBranched(config))
		return { do: 'branch', step, branch: holds(config, facts) ? 'yes' : 'no' }
	const { field, branches } = config
	const found = factAt(facts, field)
	const chosen = branches.find((branch) => holdsFor({ ...branch, field }, found))
	return { do: 'branch', step, branch: chosen?.id ?? 'default' }
}

/** A circle with a delay must not turn as fast as the worker can. */
const shortestDelayMs = 1000

const delayMs = ({ amount, unit }: StepConfigs['DELAY']) =>
	Math.max(shortestDelayMs, Math.round(amount * delayUnitSeconds[unit] * 1000))
