import { Graph as Dagre, layout } from '@dagrejs/dagre'
import { branchesOf, type Graph, type GraphStep, inOrder, wayFrom } from '../graph.ts'

export interface Place {
	x: number
	y: number
	width: number
}

export const nodeHeight = 92
const leastWidth = 250
const widthOfBranch = 96

/** Where each step is drawn: from the trigger downwards, the branches beside each other. */
export function placesOf(graph: Graph): Map<string, Place> {
	const dagre = new Dagre({ multigraph: true })
	dagre.setGraph({ rankdir: 'TB', ranksep: 96, nodesep: 36 })
	const widths = new Map(
		graph.steps.map((step) => [
			step.id,
			Math.max(leastWidth, branchesOf(step).length * widthOfBranch),
		]),
	)
	const steps = inOrder(graph)
	for (const { id } of steps) dagre.setNode(id, { width: widths.get(id)!, height: nodeHeight })
	for (const step of steps)
		for (const branch of branchesOf(step))
			for (const way of graph.ways)
				if (way.fromStepId === step.id && way.branch === branch)
					dagre.setEdge(step.id, way.toStepId, {}, branch ?? 'next')
	layout(dagre, { constraints: steps.flatMap((step) => neighbours(graph, step)) })
	return new Map(
		graph.steps.map(({ id }) => {
			const { x = 0, y = 0 } = dagre.node(id)
			const width = widths.get(id)!
			return [id, { x: x - width / 2, y: y - nodeHeight / 2, width }]
		}),
	)
}

/** The targets of a step stay from left to right as its branches are. */
function neighbours(graph: Graph, step: GraphStep) {
	const targets = branchesOf(step).flatMap(
		(branch) => wayFrom(graph, step.id, branch)?.toStepId ?? [],
	)
	const [...distinct] = new Set(targets)
	return distinct.slice(1).map((right, at) => ({ left: distinct[at]!, right }))
}
