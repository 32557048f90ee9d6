import { useEffect, useRef } from 'react'
import type { Draft } from './use-draft.ts'

/** Ctrl-Z and Ctrl-Shift-Z take changes back and do them again; Delete asks to delete the chosen step. */
export function useEditorKeys({ undo, redo }: Draft, remove: (() => void) | undefined) {
	const acts = useRef({ undo, redo, remove })
	acts.current = { undo, redo, remove }
	useEffect(() => {
		function follow(event: KeyboardEvent) {
			if (isTyping(event.target)) return
			const key = event.key.toLowerCase()
			const isCommand = event.ctrlKey || event.metaKey
			const act =
				key === 'delete'
					? acts.current.remove
					: !isCommand
						? undefined
						: key === 'y' || (key === 'z' && event.shiftKey)
							? acts.current.redo
							: key === 'z'
								? acts.current.undo
								: undefined
			if (!act) return
			event.preventDefault()
			act()
		}
		addEventListener('keydown', follow)
		return () => removeEventListener('keydown', follow)
	}, [])
}

const isTyping = (target: EventTarget | null) =>
	target instanceof HTMLInputElement ||
	target instanceof HTMLTextAreaElement ||
	target instanceof HTMLSelectElement
