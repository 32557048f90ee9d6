import type { ExecutionWithSteps } from '../../client/index.ts'
import { branchesOf, type Graph, keyOf, wayFrom } from '../workflows/graph.ts'
import type { Mark } from '../workflows/picture/picture-context.ts'
import { errorInWords } from './error-in-words.ts'

type Visit = ExecutionWithSteps['stepExecutions'][number]

const marks: Record<Visit['status'], Pick<Mark, 'tone' | 'note'>> = {
	PENDING: { tone: 'info', note: 'Here now' },
	RUNNING: { tone: 'info', note: 'Here now' },
	WAITING: { tone: 'info', note: 'Here now' },
	COMPLETED: { tone: 'good', note: 'Passed' },
	SKIPPED: { tone: 'warn', note: 'Cut short' },
	FAILED: { tone: 'bad', note: 'Failed' },
}

/** How each step of the version was visited last. */
export function marksOf(visits: Visit[]): Map<string, Mark> {
	const visited = Map.groupBy(visits, ({ stepId }) => stepId)
	return new Map(
		[...visited].map(([stepId, of]) => {
			const { status, error, startedAt, completedAt } = of.at(-1)!
			const { tone, note } = marks[status]
			return [
				stepId,
				{
					...(tone && { tone }),
					...(status === 'FAILED' && error && { fault: errorInWords(error) }),
					at: completedAt ?? startedAt,
					note: of.length > 1 ? `${note}, ${of.length} times` : (note ?? ''),
				},
			]
		}),
	)
}

/** The ways between visits that followed each other. */
export function walkedWays(graph: Graph, visits: Visit[]): Set<string> {
	const walked = new Set<string>()
	const byId = new Map(graph.steps.map((step) => [step.id, step]))
	for (const [index, { stepId }] of visits.entries()) {
		const next = visits[index + 1]
		const step = byId.get(stepId)
		if (!next || !step) continue
		const way = branchesOf(step)
			.map((branch) => wayFrom(graph, stepId, branch))
			.find((one) => one?.toStepId === next.stepId)
		if (way) walked.add(`${keyOf(way)} ${next.stepId}`)
	}
	return walked
}
