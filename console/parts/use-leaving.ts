import { useBlocker } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef } from 'react'
import { type Question, useConfirm } from './confirm.tsx'

interface Work {
	isUnsaved: () => boolean
	/** Whether the next path still has the changes. */
	isKeptAt: (next: string, current: string) => boolean
	/** What leaving loses. */
	lost: string
	onLeave?: () => void
}

const open = new Set<RefObject<Work>>()

/** Whether a page in this tab has changes that are not saved. */
export const hasUnsaved = () => [...open].some(({ current }) => current.isUnsaved())

/** Gives the changes up without asking. */
export function discardUnsaved() {
	for (const { current } of open) current.onLeave?.()
	open.clear()
}

export const leavingQuestion = (lost: string): Question => ({
	title: 'Leave without saving?',
	body: lost,
	act: 'Leave without saving',
	isDestructive: true,
})

/** Before a copy is made, whose page is opened. */
export const copyQuestion = leavingQuestion(
	'The copy is made of what was saved last. Your changes since then are lost.',
)

/** Asks before unsaved changes are lost by leaving their page. */
export function useLeaving(work: Work) {
	const confirm = useConfirm()
	const latest = useRef(work)
	latest.current = work
	const isAsking = useRef(false)
	// After each render: a page that stays open may have new changes.
	useEffect(() => {
		open.add(latest)
		return () => void open.delete(latest)
	})
	const isUnsaved = () => open.has(latest) && latest.current.isUnsaved()
	useBlocker({
		enableBeforeUnload: isUnsaved,
		async shouldBlockFn({ current, next }) {
			const { isKeptAt, lost, onLeave } = latest.current
			if (!isUnsaved() || isKeptAt(next.pathname, current.pathname)) return false
			// The first question is still open.
			if (isAsking.current) return true
			isAsking.current = true
			const leaves = await confirm(leavingQuestion(lost))
			isAsking.current = false
			if (leaves) onLeave?.()
			return !leaves
		},
	})
}
