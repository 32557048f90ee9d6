import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useConfirm } from '../parts/confirm.tsx'
import type { Writing } from './writing.ts'

/** Asks before a page with unsaved changes is left. */
export function useLeaving<Values extends { body: string }>(writing: Writing<Values>) {
	const confirm = useConfirm()
	useEffect(() => {
		addEventListener('pagehide', writing.keep)
		return () => {
			removeEventListener('pagehide', writing.keep)
			writing.keep()
		}
	}, [writing])
	useBlocker({
		enableBeforeUnload: () => writing.isChanged,
		async shouldBlockFn({ current, next }) {
			// After a log-in the draft is still there.
			const isAway = next.pathname !== current.pathname && next.pathname !== '/console/log-in'
			if (!writing.isChanged || !isAway) return false
			const leaves = await confirm({
				title: 'Leave without saving?',
				body: 'Your changes since the last save are lost.',
				act: 'Leave without saving',
				isDestructive: true,
			})
			if (leaves) writing.discard()
			return !leaves
		},
	})
}
