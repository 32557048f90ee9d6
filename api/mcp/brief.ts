import { takeTurn } from '../../db/event-loop.ts'

const longest = 2000
const largest = 4000

/** A text for a model: the rest of a long one is left out, and it says so. */
export const briefText = (text: string, most = longest) =>
	text.length <= most ? text : `${text.slice(0, most)}… [shortened]`

/** Data in any form, which may be large: a contact's data, an event's data, a step's output. */
export function briefData(data: unknown): unknown {
	const length = JSON.stringify(data ?? null).length
	if (length <= largest) return data
	const names = typeof data === 'object' && data !== null ? Object.keys(data).slice(0, 50) : []
	return {
		leftOut: `${length} characters of JSON`,
		names: names.map((name) => briefText(name, 100)),
	}
}

/** Some members of a record. */
export function only<T extends object, K extends keyof T>(record: T, ...names: K[]): Pick<T, K> {
	return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<T, K>
}

/** The views of a list, with pauses, because each item may be large. */
export async function viewed<Item, View>(items: Item[], view: (item: Item) => View) {
	const views: View[] = []
	for (const item of items) {
		await takeTurn()
		views.push(view(item))
	}
	return views
}

export const counted = (count: number, one: string, many = `${one}s`) =>
	`${count.toLocaleString('en')} ${count === 1 ? one : many}`
