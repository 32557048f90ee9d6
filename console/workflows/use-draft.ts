import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { dropDraft, keepDraft, readDraft } from '../editor/drafts.ts'
import { finished, type Graph, graphOf, hasSameGraph, isUnfinished } from './graph.ts'

interface State {
	past: Graph[]
	/** null: nothing is changed. */
	present: Graph | null
	future: Graph[]
	/** The `updatedAt` of the workflow that was changed. */
	base: string
	/** Changes of the same kind in a row are undone together. */
	group: string | undefined
	/** Counts the times when values came back that were not typed. */
	returns: number
}

type Act =
	| { do: 'change'; from: Graph; base: string; graph: Graph; group: string | undefined }
	| { do: 'save'; sent: Graph; version: string }
	| { do: 'rebase'; before: WorkflowWithSteps; after: WorkflowWithSteps }
	| { do: 'undo' | 'redo' | 'discard' }

const clean: State = { past: [], present: null, future: [], base: '', group: undefined, returns: 0 }

function reduce(state: State, act: Act): State {
	const { past, present, future, base, returns } = state
	switch (act.do) {
		case 'change': {
			const isMore = act.group !== undefined && act.group === state.group
			return {
				past: isMore ? past : [...past, (past.length > 0 ? present : null) ?? act.from],
				present: act.graph,
				future: [],
				base: past.length > 0 ? base : act.base,
				group: act.group,
				returns,
			}
		}
		case 'save':
			// Unfinished settings, and changes that were made since it was sent, are still unsaved.
			return present === null || (present === act.sent && !present.steps.some(isUnfinished))
				? { ...clean, returns }
				: { ...clean, past: [finished(act.sent)], present, base: act.version, returns }
		case 'rebase':
			// Steps that somebody else has changed meanwhile would be saved over.
			return base === act.before.updatedAt && hasSameGraph(act.before, act.after)
				? { ...state, base: act.after.updatedAt }
				: state
		case 'undo': {
			const last = past.at(-1)
			if (!last || !present) return state
			return {
				past: past.slice(0, -1),
				present: last,
				future: [present, ...future],
				base,
				group: undefined,
				returns: returns + 1,
			}
		}
		case 'redo': {
			const [next, ...rest] = future
			if (!next || !present) return state
			return {
				past: [...past, present],
				present: next,
				future: rest,
				base,
				group: undefined,
				returns: returns + 1,
			}
		}
		case 'discard':
			return { ...clean, returns: returns + 1 }
	}
}

/** With the changes of this tab from before a reload or a log-in. */
function restored([name, stored]: [name: string, stored: Graph]): State {
	const kept = readDraft<Graph>(name)
	if (!kept?.version) return clean
	return { ...clean, past: [stored], present: kept.values, base: kept.version }
}

const pauseMs = 300

/** Keeps the changes in this tab until they are saved or discarded. Returns the way to forget them. */
function useKeeping(name: string, state: State) {
	const latest = useRef(state)
	latest.current = state
	const keep = useCallback(() => {
		const { past, present, base } = latest.current
		if (past.length > 0 && present) keepDraft(name, { values: present, version: base })
		else dropDraft(name)
	}, [name])
	useEffect(() => {
		const timer = setTimeout(keep, pauseMs)
		return () => clearTimeout(timer)
	}, [keep, state])
	useEffect(() => {
		addEventListener('pagehide', keep)
		return () => {
			removeEventListener('pagehide', keep)
			keep()
		}
	}, [keep])
	return useCallback(() => {
		latest.current = clean
		dropDraft(name)
	}, [name])
}

/** Changes of a workflow's graph that are kept here until they are saved together. */
export function useDraft(workflow: WorkflowWithSteps) {
	const name = `workflow.${workflow.id}`
	const stored = useMemo(
		() => graphOf(workflow),
		// The counts of people change more often than the graph.
		[workflow.updatedAt],
	)
	const [state, act] = useReducer(reduce, [name, stored], restored)
	const [isRestored] = useState(state.past.length > 0)
	const forget = useKeeping(name, state)
	const { past, present, future, base, returns } = state
	const isChanged = past.length > 0
	const graph = (isChanged ? present : null) ?? stored
	const change = useCallback(
		(next: Graph, group?: string) =>
			act({ do: 'change', from: stored, base: workflow.updatedAt, graph: next, group }),
		[stored, workflow.updatedAt],
	)
	return {
		graph,
		isChanged,
		isRestored,
		base,
		returns,
		change,
		undo: past.length > 0 ? () => act({ do: 'undo' }) : undefined,
		redo: future.length > 0 ? () => act({ do: 'redo' }) : undefined,
		save: useCallback(
			(sent: Graph, version: string) => {
				forget()
				act({ do: 'save', sent, version })
			},
			[forget],
		),
		/** After an act of the reader's own besides saving. */
		rebase: useCallback(
			(before: WorkflowWithSteps, after: WorkflowWithSteps) => act({ do: 'rebase', before, after }),
			[],
		),
		discard: useCallback(() => {
			forget()
			act({ do: 'discard' })
		}, [forget]),
	}
}
export type Draft = ReturnType<typeof useDraft>
