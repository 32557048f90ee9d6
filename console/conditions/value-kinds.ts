import type { FieldType } from './condition-fields.ts'
import { isComparing, isContaining, type Operator } from './condition.ts'

/** The types of values that data is compared with. The API tells 5 and "5" apart. */
export const kinds = {
	text: 'text',
	number: 'number',
	flag: 'yes or no',
	day: 'day',
	moment: 'time',
	nothing: 'nothing',
	json: 'JSON',
} as const
export type Kind = keyof typeof kinds

export function kindsFor(operator: Operator): Kind[] {
	if (isContaining(operator)) return ['text']
	if (isComparing(operator)) return ['number', 'text', 'day', 'moment']
	return ['text', 'number', 'flag', 'day', 'moment', 'nothing', 'json']
}

/** The usual kind of a field’s values. */
export function usualKind(type: FieldType | undefined, operator: Operator): Kind {
	const usual: Record<FieldType, Kind> = {
		string: 'text',
		number: 'number',
		boolean: 'flag',
		date: 'day',
		object: 'json',
		array: 'json',
	}
	const offered = kindsFor(operator)
	const kind = type && usual[type]
	return kind && offered.includes(kind) ? kind : offered[0]!
}

/** Undefined: there is no value yet. */
export function kindOf(value: unknown): Kind | undefined {
	if (value === undefined || value === '') return undefined
	if (value === null) return 'nothing'
	if (typeof value === 'boolean') return 'flag'
	if (typeof value === 'number') return 'number'
	if (typeof value !== 'string') return 'json'
	if (/^\d{4}-\d\d-\d\d$/.test(value)) return 'day'
	return /^\d{4}-\d\d-\d\dT/.test(value) ? 'moment' : 'text'
}

/** Whether a value can be edited as this kind: a day is a text, too. */
export function canBe(kind: Kind, value: unknown) {
	const own = kindOf(value)
	return own === undefined || own === kind || (kind === 'text' && typeof value === 'string')
}

/** A value when its kind is changed; undefined is to be filled in. */
export function turnedInto(kind: Kind, value: unknown): unknown {
	if (canBe(kind, value) && kindOf(value) !== undefined) return value
	if (kind === 'flag') return true
	if (kind === 'nothing') return null
	if (kind === 'text' && typeof value === 'number') return String(value)
	const isNumber = kind === 'number' && typeof value === 'string' && Number.isFinite(Number(value))
	return isNumber && value !== '' ? Number(value) : undefined
}
