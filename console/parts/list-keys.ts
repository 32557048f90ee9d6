import type { KeyboardEvent } from 'react'

/** What the keys move between: the link of each row, or else the first thing to do in it. */
const stopsOf = (list: Element) =>
	[...list.children].flatMap(
		(row) =>
			row.querySelector<HTMLElement>('a') ?? row.querySelector<HTMLElement>('button, input') ?? [],
	)

/** For an element with a child for each row: arrow keys move between rows, and from the first ones to the search box. */
export const listKeys = {
	'data-list': true,
	onKeyDown(event: KeyboardEvent<HTMLElement>) {
		const list = event.currentTarget
		const stops = stopsOf(list)
		const place = stops.findIndex((stop) => stop === event.target)
		const columns = getComputedStyle(list).gridTemplateColumns.split(' ').length
		const step = {
			ArrowDown: columns,
			ArrowUp: -columns,
			...(columns > 1 && { ArrowRight: 1, ArrowLeft: -1 }),
		}[event.key]
		if (place < 0 || step === undefined) return
		event.preventDefault()
		if (event.key === 'ArrowUp' && place < columns) searchBoxOf(list)?.focus()
		else stops[place + step]?.focus()
	},
}

/** From a search box into its list. False: there is none, or it is empty. */
export function enterList(box: HTMLElement) {
	const list = [...document.querySelectorAll('[data-list]')].find((one) => isAfter(one, box))
	const first = list && stopsOf(list)[0]
	first?.focus()
	return first !== undefined
}

const searchBoxOf = (list: HTMLElement) =>
	[...document.querySelectorAll<HTMLElement>('input[type=search]')].findLast((box) =>
		isAfter(list, box),
	)

const isAfter = (one: Element, other: Element) =>
	(other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
