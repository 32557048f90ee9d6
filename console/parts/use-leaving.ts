import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useConfirm } from './confirm.tsx'

interface Work {
	isUnsaved: () => boolean
	/** Whether the next path still has the changes. */
	isKeptAt: (next: string, current: string) => boolean
	/** What leaving loses. */
	lost: string
	onLeave?: () => void
}

const open = new Set<Work>()

/** Whether a page in this tab has changes that are not saved. */
export const hasUnsaved = () => [...open].some(({ isUnsaved }) => isUnsaved())

/** Asks before unsaved changes are lost by leaving their page. */
export function useLeaving(work: Work) {
	const confirm = useConfirm()
	const latest = useRef(work)
	latest.current = work
	useEffect(() => {
		const opened = { ...latest.current, isUnsaved: () => latest.current.isUnsaved() }
		open.add(opened)
		return () => void open.delete(opened)
	}, [])
	useBlocker({
		enableBeforeUnload: () => latest.current.isUnsaved(),
		async shouldBlockFn({ current, next }) {
			const { isUnsaved, isKeptAt, lost, onLeave } = latest.current
			if (!isUnsaved() || isKeptAt(next.pathname, current.pathname)) return false
			const leaves = await confirm({
				title: 'Leave without saving?',
				body: lost,
				act: 'Leave without saving',
				isDestructive: true,
			})
			if (leaves) onLeave?.()
			return !leaves
		},
	})
}
