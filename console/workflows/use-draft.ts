import { useCallback, useMemo, useReducer } from 'react'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { type Graph, graphOf } from './graph.ts'

interface State {
	past: Graph[]
	/** null: nothing is changed. */
	present: Graph | null
	future: Graph[]
	/** The `updatedAt` of the workflow that was changed. */
	base: string
	/** Changes of the same kind in a row are undone together. */
	group: string | undefined
}

type Act =
	| { do: 'change'; from: Graph; base: string; graph: Graph; group: string | undefined }
	| { do: 'undo' | 'redo' | 'discard' }

const clean: State = { past: [], present: null, future: [], base: '', group: undefined }

function reduce(state: State, act: Act): State {
	const { past, present, future, base } = state
	switch (act.do) {
		case 'change': {
			const isMore = act.group !== undefined && act.group === state.group
			return {
				past: isMore ? past : [...past, (past.length > 0 ? present : null) ?? act.from],
				present: act.graph,
				future: [],
				base: past.length > 0 ? base : act.base,
				group: act.group,
			}
		}
		case 'undo': {
			const last = past.at(-1)
			if (!last || !present) return state
			return {
				past: past.slice(0, -1),
				present: last,
				future: [present, ...future],
				base,
				group: undefined,
			}
		}
		case 'redo': {
			const [next, ...rest] = future
			if (!next || !present) return state
			return { past: [...past, present], present: next, future: rest, base, group: undefined }
		}
		case 'discard':
			return clean
	}
}

/** Changes of a workflow's graph that are kept here until they are saved together. */
export function useDraft(workflow: WorkflowWithSteps) {
	const [state, act] = useReducer(reduce, clean)
	const stored = useMemo(
		() => graphOf(workflow),
		// The counts of people change more often than the graph.
		[workflow.updatedAt],
	)
	const { past, present, future, base } = state
	const isDirty = past.length > 0
	const graph = (isDirty ? present : null) ?? stored
	const change = useCallback(
		(next: Graph, group?: string) =>
			act({ do: 'change', from: stored, base: workflow.updatedAt, graph: next, group }),
		[stored, workflow.updatedAt],
	)
	return {
		graph,
		isDirty,
		base,
		change,
		undo: past.length > 0 ? () => act({ do: 'undo' }) : undefined,
		redo: future.length > 0 ? () => act({ do: 'redo' }) : undefined,
		discard: useCallback(() => act({ do: 'discard' }), []),
	}
}
export type Draft = ReturnType<typeof useDraft>
