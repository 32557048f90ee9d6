import type { WorkflowWithSteps } from '../../client/index.ts'
import type { Question } from '../parts/confirm.tsx'
import { formatCount } from '../parts/figures.tsx'
import type { Graph } from './graph.ts'

/** Changes of a workflow that runs concern people; those of one that does not are only saved. */
export function publishQuestion(
	{ enabled, steps }: WorkflowWithSteps,
	{ steps: after }: Graph,
): Question | null {
	if (!enabled) return null
	const kept = new Set(after.map(({ id }) => id))
	const here = steps.reduce((sum, { activeExecutions }) => sum + activeExecutions, 0)
	const lost = steps.filter(({ id, activeExecutions }) => activeExecutions > 0 && !kept.has(id))
	const people = here === 1 ? '1 person is' : `${formatCount(here)} people are`
	const removed = lost.map(({ name }) => `“${name}”`).join(', ')
	return {
		title: 'Publish a new version?',
		body: [
			'New people get it from now on.',
			here === 0
				? 'Nobody is in the workflow now.'
				: `${people} in it now, and ${here === 1 ? 'ends' : 'end'} on the version that they started with.`,
			...(lost.length > 0 ? [`That includes people at steps that you deleted: ${removed}.`] : []),
		].join(' '),
		act: 'Publish',
	}
}
