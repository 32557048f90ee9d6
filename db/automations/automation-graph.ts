import type { StepType } from './automation-definition.ts'
import type { StepRecord, TransitionRecord } from './automation-graph-records.ts'
import type { AutomationRecord } from './automation-records.ts'

// An automation as a whole, for the checks that need all of it.

export interface Draft {
	automation: AutomationRecord
	steps: StepRecord[]
	transitions: TransitionRecord[]
}

/** The part of a draft that decides what it does. */
export interface Graph {
	automation: Pick<AutomationRecord, 'triggerType' | 'eventName' | 'schedule' | 'timezone'>
	steps: GraphStep[]
	transitions: GraphTransition[]
}
export type GraphStep = Pick<StepRecord, 'id' | 'type' | 'name' | 'config' | 'templateId'>
export type GraphTransition = Pick<TransitionRecord, 'fromStepId' | 'toStepId' | 'branch'>

export interface GraphFault {
	/** Absent: the fault is in the automation itself. */
	step?: { id: string; name: string }
	/** The faulty member of the step or of the automation; '': the fault is in the connections. */
	member: string
	message: string
	code: 'required' | 'custom' | 'too_big'
}

/** A larger graph would be unreadable. */
export const maxSteps = 500
export const maxTransitions = 1000
/** The limit for all configurations together, as stored: they are read, shown and frozen as a whole. */
export const maxConfigBytes = 2 ** 20

/** The outcomes of a step that has several; undefined: there is only one way on. */
export function branchesOf({ type, config }: Pick<StepRecord, 'type' | 'config'>) {
	if (type === 'WAIT_FOR_EVENT') return ['event', 'timeout']
	if (type !== 'CONDITION') return undefined
	if (config['mode'] !== 'multi') return ['yes', 'no']
	return [...(config['branches'] as { id: string }[]).map(({ id }) => id), 'default']
}

/**
 * Why executions can't use the draft; empty if they can. References are not checked here: they are checked
 * when a step is written, and a segment or template in use can't be deleted.
 */
export function graphFaults({ automation, steps, transitions }: Graph): GraphFault[] {
	const faults = triggerFaults(automation)
	const triggers = steps.filter(({ type }) => type === 'TRIGGER')
	if (triggers.length !== 1)
		faults.push({ member: 'steps', message: 'must have exactly one TRIGGER', code: 'custom' })
	if (steps.length > maxSteps) {
		const message = `must be at most ${maxSteps}`
		faults.push({ member: 'steps', message, code: 'too_big' })
	}
	for (const step of steps) {
		const ways = transitions.filter(({ fromStepId }) => fromStepId === step.id)
		faults.push(...stepFaults(step), ...wayFaults(step, ways))
	}
	return [...faults, ...circleFaults(steps, transitions)]
}

/** Steps that no execution can reach. */
export function unreachableSteps({ steps, transitions }: Pick<Graph, 'steps' | 'transitions'>) {
	const ways = waysOn(transitions)
	const reached = new Set(steps.filter(({ type }) => type === 'TRIGGER').map(({ id }) => id))
	// Iterating over a set also visits items added during the iteration.
	for (const id of reached) for (const next of ways.get(id) ?? []) reached.add(next)
	return steps.filter(({ id }) => !reached.has(id))
}

function triggerFaults({ triggerType, eventName, schedule, timezone }: Graph['automation']) {
	const faults: GraphFault[] = []
	const missing = (member: string) =>
		faults.push({ member: `triggerConfig.${member}`, message: 'is required', code: 'required' })
	if (triggerType === 'EVENT' && eventName === null) missing('eventName')
	if (triggerType === 'SCHEDULE' && schedule === null) missing('schedule')
	if (triggerType === 'SCHEDULE' && timezone === null) missing('timezone')
	return faults
}

/**
 * Configurations were checked in full when they were written. If one of these members is missing, none was
 * written yet.
 */
const neededMembers: Record<StepType, string[]> = {
	TRIGGER: [],
	SEND_EMAIL: [],
	DELAY: ['amount'],
	WAIT_FOR_EVENT: ['eventName'],
	CONDITION: ['field', 'groups'],
	WEBHOOK: ['url'],
	UPDATE_CONTACT: [],
	EXIT: [],
}

function stepFaults({ id, name, type, config, templateId }: GraphStep): GraphFault[] {
	const step = { id, name }
	if (type === 'SEND_EMAIL' && templateId === null)
		return [{ step, member: 'templateId', message: 'is required', code: 'required' }]
	const needed = neededMembers[type]
	if (needed.length === 0 || needed.some((member) => member in config)) return []
	return [{ step, member: 'config', message: 'is required', code: 'required' }]
}

function wayFaults(step: GraphStep, ways: GraphTransition[]): GraphFault[] {
	const fault = (message: string): GraphFault => ({ step, member: '', message, code: 'custom' })
	if (step.type === 'TRIGGER' && ways.length === 0) return [fault('must lead to a first step')]
	const branches = branchesOf(step)
	return ways.flatMap(({ branch }) => {
		if (branches === undefined)
			return branch === null ? [] : [fault(`has no branches but a transition for "${branch}"`)]
		if (branch !== null && branches.includes(branch)) return []
		const named = branch === null ? 'without a branch' : `for the branch "${branch}"`
		return [fault(`has a transition ${named}; its branches are ${branches.join(', ')}`)]
	})
}

const isPausing = ({ type }: GraphStep) => type === 'DELAY' || type === 'WAIT_FOR_EVENT'

/** Without a wait in it, a circle would loop forever. One circle is reported at a time. */
function circleFaults(steps: GraphStep[], transitions: GraphTransition[]): GraphFault[] {
	const byId = new Map(steps.filter((step) => !isPausing(step)).map((step) => [step.id, step]))
	const ways = waysOn(transitions)
	const over = new Set<string>()
	for (const start of byId.keys()) {
		// Depth first, with a stack of our own: `path` is the current path, `over` the steps known to lead into
		// no circle.
		const path: { id: string; left: string[] }[] = []
		const enter = (id: string) => path.push({ id, left: [...(ways.get(id) ?? [])] })
		if (!over.has(start)) enter(start)
		for (let here = path.at(-1); here; here = path.at(-1)) {
			const next = here.left.pop()
			if (next === undefined) {
				over.add(here.id)
				path.pop()
			} else if (byId.has(next) && !over.has(next)) {
				const begins = path.findIndex(({ id }) => id === next)
				if (begins >= 0) return [circle(path.slice(begins).map(({ id }) => byId.get(id)!))]
				enter(next)
			}
		}
	}
	return []
}

function circle(steps: GraphStep[]): GraphFault {
	const names = [...steps, steps[0]!].map(({ name }) => `"${name}"`)
	const message = `is part of a loop without a DELAY or WAIT_FOR_EVENT: ${names.join(' → ')}`
	return { step: steps[0]!, member: '', message, code: 'custom' }
}

const waysOn = (transitions: GraphTransition[]) =>
	new Map(
		[...Map.groupBy(transitions, ({ fromStepId }) => fromStepId)].map(([id, group]) => [
			id,
			group.map(({ toStepId }) => toStepId),
		]),
	)
