import type { WorkflowGraph, StepReference, WorkflowWithSteps } from '../../client/index.ts'

// A workflow's graph as the editor holds it, whether it comes from the draft or from a version.

export type StepType = StepReference['type']

export interface GraphStep {
	id: string
	type: StepType
	name: string
	config: Record<string, unknown>
	templateId: string | null
	/** Settings whose text can't be read yet, by their fields. `config` has what could be read last. */
	unfinished?: Record<string, Unfinished>
}

export interface Unfinished {
	text: string
	/** The reason why it can't be read. */
	message: string
}

export interface Way {
	fromStepId: string
	toStepId: string
	/** The outcome that leads here; null if the step has only one. */
	branch: string | null
}

export interface Graph {
	trigger: { type: WorkflowWithSteps['triggerType']; config: Record<string, unknown> }
	allowReentry: boolean
	steps: GraphStep[]
	ways: Way[]
}

interface Defined {
	trigger: { type: WorkflowWithSteps['triggerType'] }
	allowReentry: boolean
	steps: GraphStep[]
	transitions: Way[]
}

const stepOf = ({
	id,
	type,
	name,
	config,
	templateId,
}: Omit<GraphStep, 'config'> & { config: object }): GraphStep => ({
	id,
	type,
	name,
	config: { ...config },
	templateId,
})
const wayOf = ({ fromStepId, toStepId, branch }: Way): Way => ({ fromStepId, toStepId, branch })

export const graphOf = (workflow: WorkflowWithSteps): Graph => ({
	trigger: { type: workflow.triggerType, config: { ...workflow.triggerConfig } },
	allowReentry: workflow.allowReentry,
	steps: workflow.steps.map(stepOf),
	ways: workflow.transitions.map(wayOf),
})

export const hasSameGraph = (one: WorkflowWithSteps, other: WorkflowWithSteps) =>
	JSON.stringify(graphOf(one)) === JSON.stringify(graphOf(other))

export function graphOfVersion({ trigger, allowReentry, steps, transitions }: Defined): Graph {
	const { type, ...config } = trigger
	return {
		trigger: { type, config },
		allowReentry,
		steps: steps.map(stepOf),
		ways: transitions.map(wayOf),
	}
}

export const inputOf = ({ trigger, allowReentry, steps, ways }: Graph): WorkflowGraph => ({
	triggerType: trigger.type,
	triggerConfig: trigger.config,
	allowReentry,
	steps: steps.map(storable),
	transitions: ways,
})

/** A step's other settings are stored only together with this one. */
const needed: { [type in StepType]?: string } = { WAIT_FOR_EVENT: 'eventName', WEBHOOK: 'url' }

function storable(given: GraphStep): GraphStep {
	const step = stepOf(given)
	const name = needed[step.type]
	return name !== undefined && step.config[name] === undefined ? { ...step, config: {} } : step
}

export const isUnfinished = ({ unfinished = {} }: GraphStep) => Object.keys(unfinished).length > 0

/** The graph as it is saved, without unfinished settings. */
export const finished = (graph: Graph): Graph => ({
	...graph,
	steps: graph.steps.map(stepOf),
})

/** The outcomes of a step; [null] if it has one way on, and none if it ends the path. */
export function branchesOf({
	type,
	config,
}: Pick<GraphStep, 'type' | 'config'>): (string | null)[] {
	if (type === 'EXIT') return []
	if (type === 'WAIT_FOR_EVENT') return ['event', 'timeout']
	if (type !== 'CONDITION') return [null]
	return config['mode'] === 'multi'
		? [...namedBranches(config).map(({ id }) => id), 'default']
		: ['yes', 'no']
}

export const namedBranches = ({ branches }: Record<string, unknown>): NamedBranch[] =>
	Array.isArray(branches) ? (branches as NamedBranch[]) : []

export interface NamedBranch {
	id: string
	name: string
	operator: string
	value?: unknown
}

/** A wait without branches goes on after the event. */
export const wayFrom = ({ ways }: Graph, stepId: string, branch: string | null) =>
	ways.find(
		(way) =>
			way.fromStepId === stepId &&
			(way.branch === branch || (way.branch === null && branch === 'event')),
	)

export const keyOf = ({ fromStepId, branch }: Pick<Way, 'fromStepId' | 'branch'>) =>
	`${fromStepId} ${branch ?? ''}`

export const triggerOf = ({ steps }: Graph) => steps.find(({ type }) => type === 'TRIGGER')

/** From the trigger on, each step once, then those that nothing leads to. */
export function inOrder(graph: Graph): GraphStep[] {
	const byId = new Map(graph.steps.map((step) => [step.id, step]))
	const seen = new Set<GraphStep>()
	function follow(step: GraphStep | undefined) {
		for (let next = step; next && !seen.has(next);) {
			seen.add(next)
			const [first, ...others] = branchesOf(next).map((branch) => wayFrom(graph, next!.id, branch))
			const rest = others.flatMap((way) => (way ? [way.toStepId] : []))
			if (rest.length > 0) {
				follow(first && byId.get(first.toStepId))
				for (const id of rest) follow(byId.get(id))
				return
			}
			next = first && byId.get(first.toStepId)
		}
	}
	follow(triggerOf(graph))
	for (const step of graph.steps) follow(step)
	return [...seen]
}
