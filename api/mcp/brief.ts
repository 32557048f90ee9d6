const longest = 2000
const largest = 4000

/** A text for a model: the rest of a long one is left out, and it says so. */
export const briefText = (text: string, most = longest) =>
	text.length <= most ? text : `${text.slice(0, most)}… [${text.length - most} more characters]`

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

/** A record with its texts cut. */
export const briefTexts = <T extends object>(record: T): T =>
	Object.fromEntries(
		Object.entries(record).map(([name, value]) => [
			name,
			typeof value === 'string' ? briefText(value) : value,
		]),
	) as T

export const counted = (count: number, one: string, many = `${one}s`) =>
	`${count.toLocaleString('en')} ${count === 1 ? one : many}`
