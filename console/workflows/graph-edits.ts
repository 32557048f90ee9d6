import {
	branchesOf,
	type Graph,
	type GraphStep,
	type StepType,
	type Way,
	wayFrom,
} from './graph.ts'
import { kinds } from './step-kinds.ts'

// Changes of a graph. Each answers with a new graph.

export interface Opening {
	stepId: string
	branch: string | null
}

/** A new step at an outcome of another. If that led somewhere, the new step leads on to it. */
export function addStep(graph: Graph, { stepId, branch }: Opening, type: StepType) {
	const { name, config } = kinds[type]
	const step: GraphStep = {
		id: newId(),
		type,
		name: freeName(graph, name),
		config: { ...config },
		templateId: null,
	}
	const old = wayFrom(graph, stepId, branch)
	const [first] = branchesOf(step)
	const ways: Way[] = [
		...graph.ways.filter((way) => way !== old),
		{ fromStepId: stepId, toStepId: step.id, branch },
		...(old && first !== undefined
			? [{ fromStepId: step.id, toStepId: old.toStepId, branch: first }]
			: []),
	]
	return { graph: { ...graph, steps: [...graph.steps, step], ways }, step }
}

/** The steps before it lead on to the next, if it has exactly one. */
export function removeStep(graph: Graph, stepId: string): Graph {
	const next = nextAfterRemoval(graph, stepId)
	return {
		...graph,
		steps: graph.steps.filter(({ id }) => id !== stepId),
		ways: graph.ways.flatMap((way) => {
			if (way.fromStepId === stepId) return []
			if (way.toStepId !== stepId) return [way]
			return next && next !== way.fromStepId ? [{ ...way, toStepId: next }] : []
		}),
	}
}

export function nextAfterRemoval({ ways }: Graph, stepId: string) {
	const targets = new Set(ways.flatMap((way) => (way.fromStepId === stepId ? way.toStepId : [])))
	return targets.size === 1 ? [...targets][0] : undefined
}

/** Without a target, the path ends there. */
export function connect(
	graph: Graph,
	{ stepId, branch }: Opening,
	toStepId: string | undefined,
): Graph {
	const old = wayFrom(graph, stepId, branch)
	const ways = graph.ways.filter((way) => way !== old)
	return {
		...graph,
		ways: toStepId === undefined ? ways : [...ways, { fromStepId: stepId, toStepId, branch }],
	}
}

/** Ways of branches that the step no longer has are removed. If it has only new ones, they take over the old ways. */
export function changeStep(graph: Graph, stepId: string, changes: Partial<GraphStep>): Graph {
	const before = graph.steps.find(({ id }) => id === stepId)!
	const after = { ...before, ...changes }
	const [old, branches] = [branchesOf(before), branchesOf(after)]
	const isNewAltogether = !branches.some((branch) => old.includes(branch))
	const ways = graph.ways.flatMap((way): Way[] => {
		if (way.fromStepId !== stepId || way.branch === null || branches.includes(way.branch))
			return [way]
		const branch = isNewAltogether ? branches[old.indexOf(way.branch)] : undefined
		return branch === undefined ? [] : [{ ...way, branch }]
	})
	return { ...graph, steps: graph.steps.map((step) => (step === before ? after : step)), ways }
}

/** Whether one step may lead to another. */
export const mayLead = (from: GraphStep, to: GraphStep) =>
	from.id !== to.id && to.type !== 'TRIGGER'

function freeName({ steps }: Graph, name: string) {
	const taken = new Set(steps.map((step) => step.name))
	let free = name
	for (let number = 2; taken.has(free); number++) free = `${name} ${number}`
	return free
}

/** A UUID of version 7: steps are listed in the order in which they were made. */
export function newId() {
	const bytes = crypto.getRandomValues(new Uint8Array(16))
	const time = BigInt(Date.now())
	for (let at = 0; at < 6; at++) bytes[at] = Number((time >> BigInt(40 - 8 * at)) & 255n)
	bytes[6] = (bytes[6]! & 15) | 112
	bytes[8] = (bytes[8]! & 63) | 128
	const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
