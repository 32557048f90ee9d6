import { isDayAlone, isoTime } from '../iso-time.ts'
import type { FlatCondition, FlatOperator } from './automation-definition.ts'

// Evaluates flat conditions on data in memory. The operators mean the same as in SQL on a contact's data
// (db/conditions/condition-data.ts): types are kept, a missing value matches neither a condition nor its
// negation, dates are compared as times.

/** Everything that a field can refer to, by its first word: `contact`, `data`, `event`, `steps`… */
export type Facts = Record<string, unknown>

export const holds = (condition: FlatCondition, facts: Facts) =>
	holdsFor(condition, factAt(facts, condition.field))

/** The same for the value that was found at the field. */
export function holdsFor({ field, operator, value }: FlatCondition, found: unknown): boolean {
	// Addresses are stored in lower case, and a boolean may be written as a word.
	if (field === 'contact.email' && typeof value === 'string')
		return compares(operator, found, value.toLowerCase())
	if (field === 'contact.subscribed' && (value === 'true' || value === 'false'))
		return compares(operator, found, value === 'true')
	return compares(operator, found, value ?? null)
}

/** A contact's data is also found without the prefix `data`. */
export function factAt(facts: Facts, field: string): unknown {
	const found = reach(facts, field)
	if (found !== undefined || !/^contact(\.|$)/.test(field)) return found
	return reach(facts, field.replace(/^contact/, 'contact.data'))
}

/** Undefined: the path has ended. */
function reach(value: unknown, path: string | undefined): unknown {
	if (path === undefined) return value
	if (typeof value !== 'object' || value === null) return undefined
	for (const name of namesIn(value, path)) {
		const rest = name.length === path.length ? undefined : path.slice(name.length + 1)
		const found = reach((value as Record<string, unknown>)[name], rest)
		if (found !== undefined) return found
	}
	return undefined
}

/**
 * The names of an object that the path can begin with. Names may contain dots, so the longest comes first. A path has
 * hundreds of beginnings, and most objects have few names.
 */
function namesIn(value: object, path: string) {
	if (Array.isArray(value)) {
		const name = path.split('.', 1)[0]!
		return Object.hasOwn(value, name) ? [name] : []
	}
	return Object.keys(value)
		.filter((name) => path.startsWith(name) && (path[name.length] ?? '.') === '.')
		.toSorted((one, other) => other.length - one.length)
}

function compares(operator: FlatOperator, found: unknown, value: unknown): boolean {
	if (operator === 'exists') return found !== undefined && found !== null
	if (operator === 'notExists') return found === undefined || found === null
	if (found === undefined) return false
	switch (operator) {
		case 'equals':
			return isEqual(found, value)
		case 'notEquals':
			return !isEqual(found, value)
		case 'contains':
			return contains(found, value)
		case 'notContains':
			return !contains(found, value)
		default:
			return isInOrder(operator, found, value)
	}
}

const dayMs = 86_400_000

function isEqual(found: unknown, value: unknown) {
	if (typeof value !== 'string' || !isDayAlone(value)) return canonical(found) === canonical(value)
	const time = timeOf(found)
	const midnight = timeOf(value)!
	return time !== undefined && time >= midnight && time < midnight + dayMs
}

/** A substring of a string, or a whole element of an array. */
const contains = (found: unknown, value: unknown) =>
	typeof value === 'string' &&
	(typeof found === 'string' || Array.isArray(found)) &&
	found.includes(value)

function isInOrder(operator: FlatOperator, found: unknown, value: unknown) {
	if (typeof value === 'number')
		return typeof found === 'number' && isOrdered(operator, found - value)
	if (typeof value !== 'string' || typeof found !== 'string') return false
	const given = timeOf(value)
	if (given === undefined)
		return isOrdered(operator, Buffer.compare(Buffer.from(found), Buffer.from(value)))
	const time = timeOf(found)
	return time !== undefined && isOrdered(operator, time - given)
}

function isOrdered(operator: FlatOperator, difference: number) {
	switch (operator) {
		case 'greaterThan':
			return difference > 0
		case 'lessThan':
			return difference < 0
		case 'greaterThanOrEqual':
			return difference >= 0
		default:
			return difference <= 0
	}
}

function timeOf(value: unknown): number | undefined {
	const time = typeof value === 'string' ? isoTime(value) : undefined
	return time === undefined ? undefined : Date.parse(time.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
}

const canonicals = new WeakMap<object, string>()

/** JSON with the members in sorted order. Made once of each object, which is compared with the value of each branch. */
function canonical(value: unknown): string {
	if (typeof value !== 'object' || value === null) return sortedJson(value)
	const known = canonicals.get(value) ?? sortedJson(value)
	canonicals.set(value, known)
	return known
}

const sortedJson = (value: unknown): string =>
	JSON.stringify(value, (_, inner: unknown) =>
		typeof inner === 'object' && inner !== null && !Array.isArray(inner)
			? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
			: inner,
	)
