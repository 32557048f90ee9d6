import { isStorableText } from '../storable-text.ts'

// The rules for a contact's data from every source: reserved keys, limits, stored keys.

type Data = Record<string, unknown>

/** One item of a validation error's `errors`. */
interface DataProblem {
	field: string
	/** Continues the field's name: `must be …`. */
	message: string
	code: 'invalid_type' | 'invalid_string' | 'too_small' | 'too_big'
}

export interface ContactData {
	/** Stored on the contact. */
	stored: Data
	/** Keys to remove from the contact. */
	removed: string[]
	/** Used for this operation only. */
	once: Data
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
	'__proto__', // never a field: assigning it would change the object's prototype
])

/** Splits the custom data of a request into stored, removed and one-off keys. */
export function splitData(data: Data): ContactData {
	const split: ContactData = { stored: {}, removed: [], once: {} }
	for (const [key, given] of Object.entries(data)) {
		if (reservedKeys.has(key)) continue
		const value = valueOf(given)
		if (isForOnce(given)) split.once[key] = value
		else if (value === null || value === undefined) split.removed.push(key)
		else if (value !== '') split.stored[key] = value
	}
	return split
}

const valueOf = (given: unknown) => (isWrapped(given) ? given.value : given)
const isForOnce = (given: unknown) => isWrapped(given) && !given.persistent

/** The data of an event: everything in the request, including one-off values. */
export const unwrapData = (data: Data): Data =>
	Object.fromEntries(Object.entries(data).map(([key, given]) => [key, valueOf(given)]))

/** The faults in a request's custom data, by field. */
export function dataProblems(data: unknown, field = 'data'): DataProblem[] {
	if (typeof data !== 'object' || data === null || Array.isArray(data)) {
		return [{ field, message: 'must be an object', code: 'invalid_type' }]
	}
	const problems: DataProblem[] = []
	// There is one more brace or comma than there are fields.
	let bytes = 1
	for (const key of Object.keys(data)) {
		if (reservedKeys.has(key)) continue
		const given = (data as Data)[key]
		const value = valueOf(given)
		const problem = entryProblem(key, value)
		if (problem) problems.push({ field: `${field}.${key}`, ...problem })
		// Data that is too deep can't be serialised as JSON either.
		else if (!isForOnce(given) && !isEmpty(value)) {
			bytes += Buffer.byteLength(JSON.stringify(key) + JSON.stringify(value)) + 2
			// The rest is not checked, so that large data costs no time.
			if (bytes > maxDataBytes)
				return [{ field, message: 'must be at most 64 KB in total', code: 'too_big' }]
		}
	}
	return problems
}

/** The same for data that is stored whole, with what a contact does not keep. */
export function wholeDataProblems(data: Data, field = 'data'): DataProblem[] {
	const problems = dataProblems(data, field)
	if (problems.length > 0) return problems
	const bytes = Buffer.byteLength(JSON.stringify(data))
	return bytes > maxDataBytes
		? [{ field, message: 'must be at most 64 KB in total', code: 'too_big' }]
		: []
}

function entryProblem(key: string, value: unknown): Omit<DataProblem, 'field'> | null {
	if (key === '') return { message: 'must have a key that is not empty', code: 'too_small' }
	if (key.length > maxKeyLength)
		return { message: `must have a key of at most ${maxKeyLength} characters`, code: 'too_big' }
	if (key === 'locale' && value !== null && value !== undefined && typeof value !== 'string')
		return { message: 'must be a string', code: 'invalid_type' }
	const fault = isStorableText(key) ? faultIn(value, 0) : 'text'
	return fault && faults[fault]
}

const faults = {
	text: {
		message: 'must not contain a NUL character or half a surrogate pair',
		code: 'invalid_string',
	},
	depth: { message: `must be nested at most ${maxDepth} deep`, code: 'too_big' },
} as const

function faultIn(value: unknown, depth: number): keyof typeof faults | null {
	if (typeof value === 'string') return isStorableText(value) ? null : 'text'
	if (typeof value !== 'object' || value === null) return null
	if (depth >= maxDepth) return 'depth'
	const isList = Array.isArray(value)
	for (const key of isList ? value.keys() : Object.keys(value)) {
		if (typeof key === 'string' && !isStorableText(key)) return 'text'
		const fault = faultIn((value as Record<string | number, unknown>)[key], depth + 1)
		if (fault) return fault
	}
	return null
}

const isEmpty = (value: unknown) => value === null || value === undefined || value === ''

/** `{ value, persistent }`: a value and whether it is stored. */
function isWrapped(value: unknown): value is { value: unknown; persistent: boolean } {
	return (
		typeof value === 'object' &&
		value !== null &&
		Object.hasOwn(value, 'value') &&
		Object.hasOwn(value, 'persistent') &&
		typeof (value as { persistent: unknown }).persistent === 'boolean'
	)
}
