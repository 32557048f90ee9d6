import { useMemo } from 'react'
import type { WorkflowWithSteps } from '../../client/index.ts'
import type { Graph } from './graph.ts'
import type { Mark } from './picture/picture-context.ts'
import { type Check, faultInWords } from './use-check.ts'
import { usePassage } from './workflow-queries.ts'

/** What is known of each step besides its settings: people and faults. */
export function useMarks(
	{ id, steps }: WorkflowWithSteps,
	graph: Graph,
	check: Check | undefined,
): ReadonlyMap<string, Mark> {
	const { data: passage } = usePassage(id)
	return useMemo(() => {
		const marks = new Map<string, Mark>()
		const add = (stepId: string, mark: Mark) => marks.set(stepId, { ...marks.get(stepId), ...mark })
		for (const step of steps) add(step.id, { here: step.activeExecutions })
		for (const { stepId, passed, failed } of passage?.steps ?? []) add(stepId, { passed, failed })
		for (const { stepId } of check?.warnings ?? []) add(stepId, { tone: 'warn' })
		for (const fault of (check?.errors ?? []).toReversed())
			if (fault.stepId) add(fault.stepId, { fault: faultInWords(fault, graph) })
		return marks
	}, [steps, graph, passage, check])
}
