import { storableText } from '../rendering/storable-text.ts'

const maxDepth = 50

/** An answer in a form that the database takes: its JSON, if that is what it is, else its text. */
export function storable(text: string): unknown {
	const clean = storableText(text)
	if (clean === '') return null
	try {
		return withoutNul(JSON.parse(clean), 0)
	} catch {
		return clean
	}
}

/** Escapes may still hide what Postgres refuses in JSON; and nobody can be made to dig for ever. */
function withoutNul(value: unknown, depth: number): unknown {
	if (depth > maxDepth) throw new RangeError('nested too deep')
	if (typeof value === 'string') return storableText(value)
	if (typeof value !== 'object' || value === null) return value
	if (Array.isArray(value)) return value.map((item) => withoutNul(item, depth + 1))
	return Object.fromEntries(
		Object.entries(value).map(([key, inner]) => [storableText(key), withoutNul(inner, depth + 1)]),
	)
}
