import type { Problem } from './problem.ts'
import type { Variables } from './look-up.ts'
import { isStorableText } from './storable-text.ts'

export interface ContactData {
	/** To be kept on the contact. */
	stored: Variables
	/** Keys that the contact is to lose. */
	removed: string[]
	/** For this operation only. */
	once: Variables
}

export const maxDataBytes = 64 * 1024
const maxKeyLength = 100
const maxDepth = 50

const reservedKeys = new Set([
	'id',
	'service_id',
	'service_email',
	'email',
	'unsubscribeUrl',
	'subscribeUrl',
	'manageUrl',
	'__proto__', // no field of anybody's, and assigning it would change an object's nature
])

/** Sorts the custom data of a request by what is to become of it. */
export function splitData(data: Variables): ContactData {
	const split: ContactData = { stored: {}, removed: [], once: {} }
	for (const [key, given] of Object.entries(data)) {
		if (reservedKeys.has(key)) continue
		const wrapped = isWrapped(given)
		const value = wrapped ? given.value : given
		if (wrapped && !given.persistent) split.once[key] = value
		else if (value === null || value === undefined) split.removed.push(key)
		else if (value !== '') split.stored[key] = value
	}
	return split
}

/** The data of an event: all that was given with it, and whatever is meant for this once. */
export const unwrapData = (data: Variables): Variables =>
	Object.fromEntries(
		Object.entries(data).map(([key, given]) => [key, isWrapped(given) ? given.value : given]),
	)

/** What of a request's custom data cannot be taken, by field. */
export function dataProblems(data: unknown, field = 'data'): Problem[] {
	if (typeof data !== 'object' || data === null || Array.isArray(data)) {
		return [{ field, message: 'must be an object', code: 'invalid_type' }]
	}
	const entries = Object.entries(data as Variables).filter(([key]) => !reservedKeys.has(key))
	const problems = entries.flatMap(([key, value]) => entryProblems(key, value, `${field}.${key}`))
	// What is too deep cannot be written as JSON either.
	if (problems.length === 0 && storedBytes(data as Variables) > maxDataBytes) {
		problems.push({ field, message: 'must be at most 64 KB in total', code: 'too_big' })
	}
	return problems
}

function entryProblems(key: string, given: unknown, field: string): Problem[] {
	const value = isWrapped(given) ? given.value : given
	if (key === '')
		return [{ field, message: 'must have a key that is not empty', code: 'too_small' }]
	if (key.length > maxKeyLength) {
		const message = `must have a key of at most ${maxKeyLength} characters`
		return [{ field, message, code: 'too_big' }]
	}
	if (key === 'locale' && value !== null && value !== undefined && typeof value !== 'string') {
		return [{ field, message: 'must be a string', code: 'invalid_type' }]
	}
	if (!isStorableText(key)) return [{ field, message: unstorable, code: 'invalid_string' }]
	return valueProblem(value, field)
}

const unstorable = 'must not contain a NUL character or half a surrogate pair'

function valueProblem(value: unknown, field: string): Problem[] {
	// Deepest last, by a list of our own: the call stack is not to be filled by a customer.
	const todo: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
	for (let next = todo.pop(); next; next = todo.pop()) {
		const { value, depth } = next
		if (typeof value === 'string' && !isStorableText(value)) {
			return [{ field, message: unstorable, code: 'invalid_string' }]
		}
		if (typeof value !== 'object' || value === null) continue
		if (depth >= maxDepth) {
			return [{ field, message: `must be nested at most ${maxDepth} deep`, code: 'too_big' }]
		}
		for (const [key, child] of Object.entries(value)) {
			if (!isStorableText(key)) return [{ field, message: unstorable, code: 'invalid_string' }]
			todo.push({ value: child, depth: depth + 1 })
		}
	}
	return []
}

function storedBytes(data: Variables) {
	return Buffer.byteLength(JSON.stringify(splitData(data).stored))
}

/** `{ value, persistent }`: a value with a word on how long it is meant. */
function isWrapped(value: unknown): value is { value: unknown; persistent: boolean } {
	return (
		typeof value === 'object' &&
		value !== null &&
		Object.hasOwn(value, 'value') &&
		Object.hasOwn(value, 'persistent') &&
		typeof (value as { persistent: unknown }).persistent === 'boolean'
	)
}
