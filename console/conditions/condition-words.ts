import type { Condition, ConditionGroup, Filter } from '../../client/index.ts'
import { type Family, familyOf, isStating, isTimed, type Operator, partsOf } from './condition.ts'

/** Names of segments by their fields, `segment.<id>`. */
export type Names = ReadonlyMap<string, string>

const standard: Record<string, string> = {
	email: 'email address',
	subscribed: 'subscribed',
	createdAt: 'created',
	updatedAt: 'changed',
}

/** A field as a part of a sentence. */
export function wordsOfField(field: string, names?: Names) {
	const [root, rest] = partsOf(field)
	if (root === 'event') return `event ${rest}`
	if (root === 'segment') return names?.get(field) ?? 'a segment'
	if (root === 'email' && rest) return `mail ${rest}`
	return standard[field] ?? rest
}

const general: Partial<Record<Operator, string>> = {
	equals: 'is',
	notEquals: 'is not',
	contains: 'contains',
	notContains: 'does not contain',
	greaterThan: 'is more than',
	lessThan: 'is less than',
	greaterThanOrEqual: 'is at least',
	lessThanOrEqual: 'is at most',
	exists: 'is set',
	notExists: 'is not set',
	within: 'is in the last',
	olderThan: 'is longer ago than',
}
const ofTimes: Partial<Record<Operator, string>> = {
	greaterThan: 'is after',
	lessThan: 'is before',
	greaterThanOrEqual: 'is at or after',
	lessThanOrEqual: 'is at or before',
}
const ofFamilies: Partial<Record<Family, Partial<Record<Operator, string>>>> = {
	date: {
		equals: 'on',
		notEquals: 'not on',
		greaterThan: 'after',
		lessThan: 'before',
		greaterThanOrEqual: 'at or after',
		lessThanOrEqual: 'at or before',
		within: 'in the last',
		olderThan: 'longer ago than',
	},
	event: {
		triggered: 'happened',
		notTriggered: 'never happened',
		triggeredWithin: 'happened in the last',
		triggeredOlderThan: 'last happened longer ago than',
		notTriggeredWithin: 'did not happen in the last',
	},
	activity: {
		triggered: 'at any time',
		notTriggered: 'never',
		triggeredWithin: 'in the last',
		triggeredOlderThan: 'last longer ago than',
		notTriggeredWithin: 'not in the last',
	},
	segment: { memberOfSegment: 'includes them', notMemberOfSegment: 'does not include them' },
}

/** An operator as a part of a sentence. Times come after each other; other values are more or less. */
export function wordsOfOperator(field: string, operator: Operator, isOfTime: boolean) {
	const family = familyOf(field)
	const own = family && ofFamilies[family]?.[operator]
	return own ?? (isOfTime ? ofTimes[operator] : undefined) ?? general[operator] ?? operator
}

export const looksLikeTime = (value: unknown) =>
	typeof value === 'string' && /^\d{4}-\d\d-\d\d(T|$)/.test(value)

function wordsOfValue(value: unknown) {
	if (value === null) return 'nothing'
	if (typeof value === 'boolean') return value ? 'yes' : 'no'
	if (typeof value === 'string') return /^[\w@.+-]+$/.test(value) ? value : `“${value}”`
	return JSON.stringify(value)
}

function wordsOfFilter(filter: Filter, names: Names) {
	const { field, operator, value } = filter
	const words = [wordsOfField(field, names), wordsOfOperator(field, operator, looksLikeTime(value))]
	if (isTimed(operator)) words.push(amount(Number(value), filter.unit ?? 'days'))
	else if (!isStating(operator)) words.push(wordsOfValue(value))
	return words.join(' ')
}

const amount = (value: number, unit: string) => `${value} ${value === 1 ? unit.slice(0, -1) : unit}`

/** A condition as one sentence, such as `plan is pro and mail opened never`. */
export function sentenceOf({ logic, groups }: Condition, names: Names): string {
	const parts = groups.map((group) => partsOfGroup(group, names))
	const [only] = parts
	if (parts.length === 1 && only) return only.join(' and ')
	return parts
		.map((part) => (part.length > 1 ? `(${part.join(' and ')})` : part[0]))
		.join(logic === 'OR' ? ' or ' : ' and ')
}

const partsOfGroup = ({ filters = [], conditions }: ConditionGroup, names: Names) => [
	...filters.map((filter) => wordsOfFilter(filter, names)),
	...(conditions ? [`(${sentenceOf(conditions, names)})`] : []),
]
