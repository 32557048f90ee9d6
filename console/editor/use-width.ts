import { type RefObject, useEffect, useState } from 'react'

/** The width of an element; 0 until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>) {
	const [width, setWidth] = useState(0)
	useEffect(() => {
		const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
		observer.observe(element.current!)
		return () => observer.disconnect()
	}, [element])
	return width
}
