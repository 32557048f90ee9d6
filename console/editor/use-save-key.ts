import { useEffect, useRef } from 'react'

/** Ctrl-S (on a Mac, Cmd-S) saves, wherever the focus is. */
export function useSaveKey(save: () => void) {
	const latest = useRef(save)
	useEffect(() => {
		latest.current = save
	})
	useEffect(() => {
		function listen(event: KeyboardEvent) {
			if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return
			event.preventDefault()
			latest.current()
		}
		addEventListener('keydown', listen)
		return () => removeEventListener('keydown', listen)
	}, [])
}
