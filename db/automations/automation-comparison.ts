import { isDayAlone, isoTime } from '../iso-time.ts'
import type { FlatCondition, FlatOperator } from './automation-definition.ts'

// Evaluates flat conditions on data in memory. The operators mean the same as in SQL on a contact's data
// (db/conditions/condition-data.ts): types are kept, a missing value matches neither a condition nor its
// negation, dates are compared as times.

/** Everything that a field can refer to, by its first word: `contact`, `data`, `event`, `steps`… */
export type Facts = Record<string, unknown>

export function holds({ field, operator, value }: FlatCondition, facts: Facts): boolean {
	const found = factAt(facts, field)
	// Addresses are stored in lower case, and a boolean may be written as a word.
	if (field === 'contact.email' && typeof value === 'string')
		return compares(operator, found, value.toLowerCase())
	if (field === 'contact.subscribed' && (value === 'true' || value === 'false'))
		return compares(operator, found, value === 'true')
	return compares(operator, found, value ?? null)
}

/** A contact's data is also found without the prefix `data`. */
export function factAt(facts: Facts, field: string): unknown {
	const path = field.split('.')
	const found = reach(facts, path)
	if (found !== undefined || path[0] !== 'contact') return found
	return reach(facts, ['contact', 'data', ...path.slice(1)])
}

/** Names may contain dots, so the longest existing name is tried first. */
function reach(value: unknown, path: string[]): unknown {
	if (path.length === 0) return value
	if (typeof value !== 'object' || value === null) return undefined
	for (let taken = path.length; taken > 0; taken--) {
		const name = path.slice(0, taken).join('.')
		if (!Object.hasOwn(value, name)) continue
		const found = reach((value as Record<string, unknown>)[name], path.slice(taken))
		if (found !== undefined) return found
	}
	return undefined
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

/** JSON with the members in sorted order. */
const canonical = (value: unknown): string =>
	JSON.stringify(value, (_, inner: unknown) =>
		typeof inner === 'object' && inner !== null && !Array.isArray(inner)
			? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
			: inner,
	)
