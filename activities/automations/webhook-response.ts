import { storableText } from '../../db/storable-text.ts'

const maxDepth = 50

/** A response in a form that the database can store: parsed JSON if it is valid, otherwise its text. */
export function storable(text: string): unknown {
	const clean = storableText(text)
	if (clean === '') return null
	try {
		return withoutNul(JSON.parse(clean), 0)
	} catch {
		return clean
	}
}

/** JSON escapes may hide a NUL, which Postgres refuses. The depth limit bounds the recursion. */
function withoutNul(value: unknown, depth: number): unknown {
	if (depth > maxDepth) throw new RangeError('nested too deep')
	if (typeof value === 'string') return storableText(value)
	if (typeof value !== 'object' || value === null) return value
	if (Array.isArray(value)) return value.map((item) => withoutNul(item, depth + 1))
	return Object.fromEntries(
		Object.entries(value).map(([key, inner]) => [storableText(key), withoutNul(inner, depth + 1)]),
	)
}
