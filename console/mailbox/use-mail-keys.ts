import { type RefObject, useEffect, useRef } from 'react'
import { isTyping } from '../shell/shortcuts.ts'

/**
 * j and k move through a list of links from anywhere in the page, and Delete deletes the link with the focus.
 * `refocus` leads to its neighbour afterwards.
 */
export function useMailKeys(
	list: RefObject<HTMLElement | null>,
	remove: (place: number, refocus: () => void) => void,
) {
	const act = useRef(remove)
	act.current = remove
	useEffect(() => {
		function follow(event: KeyboardEvent) {
			const { key, target } = event
			if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target) || isAsking()) return
			const links = [...(list.current?.querySelectorAll('a') ?? [])]
			const focused = links.findIndex((link) => link === target)
			const step = { j: 1, k: -1 }[key]
			if (step) {
				const open = links.findIndex((link) => link.ariaCurrent !== null)
				links[(focused < 0 ? open : focused) + step]?.focus()
				event.preventDefault()
			}
			if (key !== 'Delete' || focused < 0) return
			const neighbour = links[focused + 1] ?? links[focused - 1]
			act.current(focused, () => neighbour?.focus())
		}
		addEventListener('keydown', follow)
		return () => removeEventListener('keydown', follow)
	}, [list])
}

const isAsking = () => document.querySelector('[role=dialog], [role=alertdialog]') !== null
