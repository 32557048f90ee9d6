import { randomUUID } from 'node:crypto'

/** A mail's body may have 40 MB. Serialising it at once would take several times its length in memory. */
const charactersAtOnce = 2 ** 18

/** Serialises items as JSON, with their long texts in parts. `textOf` serialises the rest. */
export function* partsOf<Item>(items: Item[], textOf: (items: Item[]) => string) {
	const { short, partsOfText } = withoutLongTexts(items)
	yield* partsOfText(textOf(short))
}

/** The items with marks in place of their long texts. `partsOfText` puts the texts back into their JSON. */
export function withoutLongTexts<Item>(items: Item[]) {
	const long = new Map<string, string>()
	const short = items.map((item) => (hasLongText(item) ? shortened(item, long) : item))
	function* partsOfText(text: string) {
		let at = 0
		for (const [mark, value] of inOrderOf(text, long)) {
			const found = text.indexOf(mark, at)
			yield text.slice(at, found)
			yield* escapedParts(value)
			at = found + mark.length
		}
		yield text.slice(at)
	}
	return { short, partsOfText }
}

const isLongText = (value: unknown) => typeof value === 'string' && value.length > charactersAtOnce

export const hasLongText = (item: unknown) =>
	typeof item === 'object' && item !== null && Object.values(item).some(isLongText)

/** The item with marks in place of its long texts. */
const shortened = <Item>(item: Item, long: Map<string, string>) =>
	Object.fromEntries(
		Object.entries(item as object).map(([name, value]: [string, unknown]) => {
			if (!isLongText(value)) return [name, value]
			const mark = randomUUID()
			long.set(mark, value as string)
			return [name, mark]
		}),
	) as Item

const inOrderOf = (text: string, long: Map<string, string>) =>
	[...long]
		.filter(([mark]) => text.includes(mark))
		.toSorted(([a], [b]) => text.indexOf(a) - text.indexOf(b))

/** The text as it appears between the quotes of JSON. */
function* escapedParts(text: string) {
	for (let at = 0; at < text.length;) {
		let end = Math.min(at + charactersAtOnce, text.length)
		// Never splits a surrogate pair.
		if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!)) end -= 1
		yield JSON.stringify(text.slice(at, end)).slice(1, -1)
		at = end
	}
}
