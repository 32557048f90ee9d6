import type { StepType } from './automation-definition.ts'
import type { StepRecord, TransitionRecord } from './automation-graph-records.ts'
import type { AutomationRecord } from './automation-records.ts'

// What of an automation can be told only when it is looked at as a whole.

export interface Draft {
	automation: AutomationRecord
	steps: StepRecord[]
	transitions: TransitionRecord[]
}

export interface GraphFault {
	/** Without one, the fault is in the automation itself. */
	step?: { id: string; name: string }
	/** What of the step, or of the automation, is wrong; '': how it is connected. */
	member: string
	message: string
	code: 'required' | 'custom' | 'too_big'
}

/** More could be drawn, but nobody could read it. */
export const maxSteps = 500
export const maxTransitions = 1000
/** Of all its configurations, as stored: it is read, shown and frozen as a whole. */
export const maxConfigBytes = 2 ** 20

/** The outcomes of a step that has several; undefined: there is but one way on. */
export function branchesOf({ type, config }: Pick<StepRecord, 'type' | 'config'>) {
	if (type === 'WAIT_FOR_EVENT') return ['event', 'timeout']
	if (type !== 'CONDITION') return undefined
	if (config['mode'] !== 'multi') return ['yes', 'no']
	return [...(config['branches'] as { id: string }[]).map(({ id }) => id), 'default']
}

/** Why the draft cannot be what executions run by. None: whatever a step refers to is there. */
export function graphFaults({ automation, steps, transitions }: Draft): GraphFault[] {
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

/** Steps that no execution will come to. */
export function unreachableSteps({ steps, transitions }: Pick<Draft, 'steps' | 'transitions'>) {
	const ways = waysOn(transitions)
	const reached = new Set(steps.filter(({ type }) => type === 'TRIGGER').map(({ id }) => id))
	// A set that grows while it is walked is walked to its new end.
	for (const id of reached) for (const next of ways.get(id) ?? []) reached.add(next)
	return steps.filter(({ id }) => !reached.has(id))
}

function triggerFaults({ triggerType, eventName, schedule, timezone }: AutomationRecord) {
	const faults: GraphFault[] = []
	const missing = (member: string) =>
		faults.push({ member: `triggerConfig.${member}`, message: 'is required', code: 'required' })
	if (triggerType === 'EVENT' && eventName === null) missing('eventName')
	if (triggerType === 'SCHEDULE' && schedule === null) missing('schedule')
	if (triggerType === 'SCHEDULE' && timezone === null) missing('timezone')
	return faults
}

/** Written configurations were checked in full: where none of these is, none was written yet. */
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

function stepFaults({ id, name, type, config, templateId }: StepRecord): GraphFault[] {
	const step = { id, name }
	if (type === 'SEND_EMAIL' && templateId === null)
		return [{ step, member: 'templateId', message: 'is required', code: 'required' }]
	const needed = neededMembers[type]
	if (needed.length === 0 || needed.some((member) => member in config)) return []
	return [{ step, member: 'config', message: 'is required', code: 'required' }]
}

function wayFaults(step: StepRecord, ways: TransitionRecord[]): GraphFault[] {
	const fault = (message: string): GraphFault => ({ step, member: '', message, code: 'custom' })
	if (step.type === 'TRIGGER' && ways.length === 0) return [fault('must lead to a first step')]
	const branches = branchesOf(step)
	return ways.flatMap(({ branch }) => {
		if (branches === undefined)
			return branch === null ? [] : [fault(`has no branches, and a transition for "${branch}"`)]
		if (branch !== null && branches.includes(branch)) return []
		const named = branch === null ? 'without a branch' : `for the branch "${branch}"`
		return [fault(`has a transition ${named}; its branches are ${branches.join(', ')}`)]
	})
}

const isPausing = ({ type }: StepRecord) => type === 'DELAY' || type === 'WAIT_FOR_EVENT'

/** A circle in which nothing waits would be run through without end. One is told at a time. */
function circleFaults(steps: StepRecord[], transitions: TransitionRecord[]): GraphFault[] {
	const byId = new Map(steps.filter((step) => !isPausing(step)).map((step) => [step.id, step]))
	const ways = waysOn(transitions)
	const over = new Set<string>()
	for (const start of byId.keys()) {
		// Depth first, by a list of our own: `path` is where we are, `over` what leads into no circle.
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

function circle(steps: StepRecord[]): GraphFault {
	const names = [...steps, steps[0]!].map(({ name }) => `"${name}"`)
	const message = `is part of a circle without a DELAY or WAIT_FOR_EVENT: ${names.join(' → ')}`
	return { step: steps[0]!, member: '', message, code: 'custom' }
}

const waysOn = (transitions: TransitionRecord[]) =>
	new Map(
		[...Map.groupBy(transitions, ({ fromStepId }) => fromStepId)].map(([id, group]) => [
			id,
			group.map(({ toStepId }) => toStepId),
		]),
	)
