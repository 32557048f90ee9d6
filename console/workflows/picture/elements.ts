import { MarkerType, Position } from '@xyflow/react'
import { branchesOf, type Graph, type GraphStep, inOrder, wayFrom } from '../graph.ts'
import { branchInWords } from '../step-words.ts'
import { nodeHeight, type Place } from './layout.ts'
import type { StepNode } from './step-node.tsx'
import type { WayEdge } from './way-edge.tsx'

/** The nodes and edges of React Flow for a graph. */
export function elementsOf(graph: Graph, places: ReadonlyMap<string, Place>) {
	const byId = new Map(graph.steps.map((step) => [step.id, step]))
	// The Tab key follows this order.
	const nodes = inOrder(graph).map((step) => nodeOf(graph, step, places.get(step.id)!))
	const edges = graph.ways.flatMap((way): WayEdge[] => {
		const [from, to] = [byId.get(way.fromStepId), byId.get(way.toStepId)]
		if (!from || !to) return []
		const { branch } = way
		return [
			{
				id: `${from.id} ${branch ?? ''}`,
				type: 'way',
				source: from.id,
				target: to.id,
				sourceHandle: handleOf(from, branch),
				markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
				data: { branch, name: branchInWords(from, branch), from: from.name, to: to.name },
			},
		]
	})
	return { nodes, edges }
}

/** A way without a branch leaves a wait as the event does. */
const handleOf = (step: GraphStep, branch: string | null) => branch ?? branchesOf(step)[0] ?? 'next'

function nodeOf(graph: Graph, step: GraphStep, { x, y, width }: Place): StepNode {
	const branches = branchesOf(step)
	return {
		id: step.id,
		type: 'step',
		position: { x, y },
		width,
		height: nodeHeight,
		data: {
			step,
			outcomes: branches.map((branch) => ({
				branch,
				isOpen: wayFrom(graph, step.id, branch) === undefined,
			})),
		},
		// Known in advance, so that ways to steps outside of the picture are drawn.
		handles: [
			{ type: 'target', position: Position.Top, x: width / 2, y: 0, width: 1, height: 1 },
			...branches.map((branch, at) => ({
				type: 'source' as const,
				id: branch ?? 'next',
				position: Position.Bottom,
				x: (width * (at + 1)) / (branches.length + 1),
				y: nodeHeight,
				width: 1,
				height: 1,
			})),
		],
	}
}
