import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { pages } from './pages.ts'

/** `g` then a letter goes to a page, `/` searches in it, and Ctrl-K opens the command palette. */
export function useShortcuts(projectId: string, openPalette: () => void) {
	const navigate = useNavigate()
	const open = useRef(openPalette)
	open.current = openPalette
	useEffect(() => {
		let isGoing = false
		function follow(event: KeyboardEvent) {
			const { key } = event
			if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
				event.preventDefault()
				return open.current()
			}
			if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
			const page = isGoing && pages.find((one) => one?.letter === key)
			isGoing = key === 'g' && !page
			if (key === '/') return focusSearch(event)
			if (!page) return
			event.preventDefault()
			void navigate({ to: `/console/${projectId}/${page.path}` as '/' })
		}
		addEventListener('keydown', follow)
		return () => removeEventListener('keydown', follow)
	}, [navigate, projectId])
}

/** Letters are text there, and no shortcuts. */
export const isTyping = (target: EventTarget | null) =>
	target instanceof HTMLElement &&
	(target.isContentEditable || target.matches('input, textarea, select, [role=textbox]'))

function focusSearch(event: KeyboardEvent) {
	const search = document.querySelector<HTMLInputElement>('main input[type=search]')
	if (!search) return
	event.preventDefault()
	search.select()
}
