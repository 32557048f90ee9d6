import { storableText } from '../../db/storable-text.ts'

const maxDepth = 50
/** As objects, many small values take twenty times the memory of their text. */
const maxValues = 10_000

/**
 * A response in a form that the database can store: parsed JSON if it is valid and not too complex, otherwise
 * its text.
 */
export function storable(text: string): unknown {
	const clean = storableText(text)
	if (clean === '') return null
	try {
		return withoutNul(JSON.parse(clean))
	} catch {
		return clean
	}
}

/** JSON escapes may hide a NUL, which Postgres refuses. The depth limit bounds the recursion. */
function withoutNul(json: unknown) {
	let values = 0
	return clean(json, 0)

	function clean(value: unknown, depth: number): unknown {
		if (depth > maxDepth) throw new RangeError('nested too deep')
		if (++values > maxValues) throw new RangeError('too many values')
		if (typeof value === 'string') return storableText(value)
		if (typeof value !== 'object' || value === null) return value
		if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1))
		return Object.fromEntries(
			Object.entries(value).map(([key, inner]) => [storableText(key), clean(inner, depth + 1)]),
		)
	}
}
