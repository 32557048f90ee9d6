import { useEffect } from 'react'
import { useLeaving } from '../parts/use-leaving.ts'
import type { Writing } from './writing.ts'

/** Keeps a draft when its page goes away, and asks before a reader leaves it. After a log-in it is still there. */
export function useKeptDraft<Values extends { body: string }>(writing: Writing<Values>) {
	useEffect(() => {
		addEventListener('pagehide', writing.keep)
		return () => {
			removeEventListener('pagehide', writing.keep)
			writing.keep()
		}
	}, [writing])
	useLeaving({
		isUnsaved: () => writing.isChanged,
		isKeptAt: (next, current) => next === current || next === '/console/log-in',
		lost: 'Your changes since the last save are lost.',
		onLeave: () => writing.discard(),
	})
}
