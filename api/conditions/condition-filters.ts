import {
	comparisons,
	familyOperators,
	type Field,
	fieldOf,
	type Operator,
	operators,
	timedOperators,
	type Unit,
	units,
	valueOperators,
} from '../../db/conditions/condition.ts'
import { isoTime } from '../../db/iso-time.ts'
import type { FieldError } from '../errors.ts'

const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** The problems of one filter: its field, operator, value and unit. */
export function filterProblems(filter: Record<string, unknown>, path: string): FieldError[] {
	const { field, operator, value, unit } = filter
	const errors: FieldError[] = []
	const about = typeof field === 'string' ? fieldOf(field) : undefined
	if (field === undefined) errors.push(problem(`${path}.field`, 'required'))
	else if (typeof field !== 'string')
		errors.push(problem(`${path}.field`, 'invalid_type', 'must be a string'))
	else if (!about)
		errors.push(
			problem(
				`${path}.field`,
				'invalid_enum_value',
				'must be email, subscribed, createdAt, updatedAt, data.<path>, event.<name>, email.<activity> or segment.<id>',
			),
		)
	// Only a UUID can name a segment, and Postgres would refuse other text.
	else if (about.family === 'segment' && !uuid.test(about.id))
		errors.push(problem(`${path}.field`, 'custom', 'names a segment that does not exist'))
	// Names of events are trimmed before they are stored, so nobody would have such an event.
	else if (about.family === 'event' && about.name !== about.name.trim())
		errors.push(
			problem(
				`${path}.field`,
				'invalid_string',
				'must not have spaces around the name of the event',
			),
		)

	if (operator === undefined) errors.push(problem(`${path}.operator`, 'required'))
	else if (!isOperator(operator))
		errors.push(
			problem(
				`${path}.operator`,
				typeof operator === 'string' ? 'invalid_enum_value' : 'invalid_type',
				`must be one of ${operators.join(', ')}`,
			),
		)
	else if (about && !familyOperators[about.family].includes(operator))
		errors.push(
			problem(
				`${path}.operator`,
				'invalid_enum_value',
				`must be one of ${familyOperators[about.family].join(', ')} with this field`,
			),
		)
	if (!about || errors.length > 0 || !isOperator(operator)) return errors
	if (timedOperators.includes(operator)) return amountProblems(value, unit, path)
	return valueOperators.includes(operator) ? valueProblems(about, operator, value, path) : []
}

const isOperator = (given: unknown): given is Operator => operators.includes(given as Operator)

function amountProblems(value: unknown, unit: unknown, path: string): FieldError[] {
	const errors: FieldError[] = []
	const at = `${path}.value`
	if (value === undefined) errors.push(problem(at, 'required'))
	else if (typeof value !== 'number' || !Number.isFinite(value))
		errors.push(problem(at, 'invalid_type', 'must be a number'))
	else if (value <= 0) errors.push(problem(at, 'too_small', 'must be greater than 0'))
	if (unit === undefined || unit === null) errors.push(problem(`${path}.unit`, 'required'))
	else if (!units.includes(unit as Unit))
		errors.push(problem(`${path}.unit`, 'invalid_enum_value', `must be one of ${units.join(', ')}`))
	return errors
}

function valueProblems(about: Field, operator: Operator, value: unknown, path: string) {
	const at = `${path}.value`
	if (value === undefined) return [problem(at, 'required')]
	const isEquality = operator === 'equals' || operator === 'notEquals'
	if (value === null)
		return isEquality ? [] : [problem(at, 'invalid_type', 'must not be null with this operator')]
	const wanted = wantedValue(about, operator, value)
	return wanted === undefined ? [] : [problem(at, ...wanted)]
}

/** The problems of a value that is compared with something of any JSON type. */
export const comparedProblems = (operator: Operator, value: unknown, path: string) =>
	valueOperators.includes(operator)
		? valueProblems({ family: 'data', path: [] }, operator, value, path)
		: []

/** The code and the message for a value that does not fit and is not null. */
function wantedValue(
	{ family }: Field,
	operator: Operator,
	value: unknown,
): [FieldError['code'], string] | undefined {
	const isText = typeof value === 'string'
	if (family === 'subscribed') {
		const isFlag = typeof value === 'boolean' || value === 'true' || value === 'false'
		return isFlag ? undefined : ['invalid_type', 'must be true or false']
	}
	if (family === 'date') {
		if (!isText) return ['invalid_type', 'must be a string']
		return isoTime(value) === undefined
			? ['invalid_string', 'must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z']
			: undefined
	}
	// Every address contains the empty text, so it would match every contact.
	if (family === 'email' && isText && value.trim() === '') return ['too_small', 'must not be empty']
	if (family === 'email' || operator === 'contains' || operator === 'notContains')
		return isText ? undefined : ['invalid_type', 'must be a string']
	if ((comparisons as readonly Operator[]).includes(operator)) {
		const isNumber = typeof value === 'number' && Number.isFinite(value)
		return isNumber || isText ? undefined : ['invalid_type', 'must be a number or a string']
	}
	// JSON may contain numbers that JavaScript reads as infinite and can't write back.
	return JSON.stringify(value) === 'null' ? ['invalid_type', 'is too large a number'] : undefined
}

const problem = (field: string, code: FieldError['code'], message = 'is required'): FieldError => ({
	field,
	message,
	code,
})
