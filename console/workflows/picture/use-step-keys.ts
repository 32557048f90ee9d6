import { type KeyboardEvent, type RefObject, useCallback, useEffect, useRef } from 'react'
import { branchesOf, type Graph, wayFrom } from '../graph.ts'

/** Arrow keys follow the ways, also to steps that are not drawn yet because they are out of view. */
export function useStepKeys(
	frame: RefObject<HTMLElement | null>,
	graph: Graph,
	show: (stepId: string) => void,
) {
	const wanted = useRef<string>(null)
	const focus = useCallback(() => {
		if (!wanted.current) return
		const step = frame.current?.querySelector<HTMLElement>(selectorOf(wanted.current))
		if (!step) return
		wanted.current = null
		step.focus({ preventScroll: true })
	}, [frame])
	// It appears once it is in view.
	useEffect(() => {
		const observer = new MutationObserver(focus)
		observer.observe(frame.current!, { childList: true, subtree: true })
		return () => observer.disconnect()
	}, [frame, focus])
	function onKeyDown(event: KeyboardEvent) {
		const stepId = event.target instanceof HTMLElement ? event.target.dataset['step'] : undefined
		const next = stepId && neighbourOf(graph, stepId, event.key)
		if (!next) return
		event.preventDefault()
		wanted.current = next
		show(next)
		focus()
	}
	return onKeyDown
}

const selectorOf = (stepId: string) => `[data-step="${CSS.escape(stepId)}"]`

function neighbourOf(graph: Graph, stepId: string, key: string) {
	if (key === 'ArrowDown') return targetsOf(graph, stepId)[0]
	const before = graph.ways.find((way) => way.toStepId === stepId)?.fromStepId
	if (before === undefined || key === 'ArrowUp') return key === 'ArrowUp' ? before : undefined
	const shift = { ArrowLeft: -1, ArrowRight: 1 }[key]
	const siblings = targetsOf(graph, before)
	return shift && siblings[siblings.indexOf(stepId) + shift]
}

function targetsOf(graph: Graph, stepId: string) {
	const step = graph.steps.find(({ id }) => id === stepId)
	return step
		? branchesOf(step).flatMap((branch) => wayFrom(graph, stepId, branch)?.toStepId ?? [])
		: []
}
