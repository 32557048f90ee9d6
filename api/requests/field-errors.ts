import type { FieldError } from '../errors.ts'
import { allowed, type Failure, withoutUnions } from './unions.ts'

const maxErrors = 100
const maxReceivedLength = 100
const secretField = /password|secret|token|authorization|cookie|credential/i

/** Ajv's errors in the specification's words: one per field, with unions as one. */
export function fieldErrors(failures: Failure[]): FieldError[] {
	const errors = new Map<string, FieldError>()
	for (const failure of withoutUnions(failures)) {
		const error = fieldError(failure)
		if (errors.has(error.field)) continue
		errors.set(error.field, error)
		if (errors.size === maxErrors) break
	}
	return [...errors.values()]
}

function fieldError(failure: Failure): FieldError {
	const { params } = failure
	const path = pathOf(failure.instancePath)
	const key =
		params.missingProperty ??
		params.additionalProperty ??
		params.unevaluatedProperty ??
		params.propertyName
	const field = [path, key ?? ''].filter((part) => part !== '').join('.')
	const [code, message] = wording(failure)
	const received = key === undefined ? receivedOf(code, failure.data, field) : undefined
	return { field, message, code, ...(received === undefined ? {} : { received }) }
}

const pathOf = (pointer: string) =>
	pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')

const formats: Record<string, string> = {
	email: 'an email address',
	uuid: 'a UUID',
	'date-time': 'an ISO 8601 date and time such as 2026-01-31T12:00:00Z',
	date: 'a date such as 2026-01-31',
	uri: 'a URL',
}

function wording(failure: Failure): [FieldError['code'], string] {
	const { keyword, params, data, parentSchema } = failure
	const { limit, type = [], format = '' } = params
	const unit = Array.isArray(data) ? 'items' : typeof data === 'string' ? 'characters' : 'members'
	const some = `${limit} ${limit === 1 ? unit.slice(0, -1) : unit}`
	switch (keyword) {
		case 'required':
			return ['required', 'is required']
		case 'type':
			return ['invalid_type', `must be ${anyOf([type].flat())}`]
		case 'union':
			return [
				'invalid_union',
				type.length > 0
					? `must be ${anyOf([type].flat())}`
					: 'does not match any of the allowed forms',
			]
		case 'format':
			return ['invalid_string', `must be ${formats[format] ?? `in the format ${format}`}`]
		case 'pattern':
			return ['invalid_string', parentSchema?.['x-message'] ?? 'has the wrong format']
		case 'enum':
		case 'const':
			return ['invalid_enum_value', `must be ${oneOf(allowed(failure))}`]
		case 'minLength':
		case 'minItems':
		case 'minProperties':
			return ['too_small', limit === 1 ? 'must not be empty' : `must have at least ${some}`]
		case 'maxLength':
		case 'maxItems':
		case 'maxProperties':
			return ['too_big', `must have at most ${some}`]
		case 'minimum':
			return ['too_small', `must be at least ${limit}`]
		case 'exclusiveMinimum':
			return ['too_small', `must be greater than ${limit}`]
		case 'maximum':
			return ['too_big', `must be at most ${limit}`]
		case 'exclusiveMaximum':
			return ['too_big', `must be less than ${limit}`]
		case 'additionalProperties':
		case 'unevaluatedProperties':
			return ['unrecognized_keys', notKnown(Object.keys(parentSchema?.properties ?? {}))]
		case 'propertyNames':
			return ['custom', 'is not an allowed name']
		case 'uniqueItems':
			return ['custom', 'must not contain the same item twice']
		default:
			return ['custom', 'is invalid']
	}
}

/** Lists the valid members, because usually one of them was misspelt. */
export const notKnown = (known: string[]) =>
	known.length === 0 ? 'is not allowed here' : `is not allowed here, only ${joined(known, 'and')}`

const typeNames: Record<string, string> = {
	string: 'a string',
	number: 'a number',
	integer: 'an integer',
	boolean: 'a boolean',
	object: 'an object',
	array: 'an array',
	null: 'null',
}
const joined = (parts: string[], word = 'or') =>
	parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}`
const anyOf = (types: string[]) =>
	joined([...new Set(types)].map((type) => typeNames[type] ?? type))
const oneOf = (values: unknown[]) =>
	(values.length > 1 ? 'one of ' : '') + values.map(String).join(', ')

const typeOf = (value: unknown) =>
	value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

/** The JSON type if the type is wrong, else the value if it is short and not secret. */
function receivedOf(code: FieldError['code'], value: unknown, field: string) {
	const isScalar = value === null || ['string', 'number', 'boolean'].includes(typeof value)
	if (code === 'invalid_type' || code === 'invalid_union' || !isScalar) return typeOf(value)
	if (secretField.test(field)) return undefined
	return typeof value === 'string' && value.length > maxReceivedLength ? undefined : value
}
