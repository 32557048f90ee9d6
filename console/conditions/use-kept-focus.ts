import { type RefObject, useEffect, useRef } from 'react'

/** When a part is removed with the focus in it, the focus goes to the button that adds another. */
export function useKeptFocus(place: RefObject<HTMLElement | null>, count: number) {
	const before = useRef(count)
	useEffect(() => {
		const isLost = count < before.current && document.activeElement === document.body
		before.current = count
		if (!isLost) return
		const buttons = place.current?.querySelectorAll<HTMLElement>('[data-acts] button:enabled')
		buttons?.[0]?.focus()
	}, [place, count])
}
