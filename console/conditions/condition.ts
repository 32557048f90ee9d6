import type {
	Condition,
	ConditionGroup,
	Filter,
	StateFilter,
	TimeFilter,
	ValueFilter,
} from '../../client/index.ts'

export type Operator = Filter['operator']
export type Unit = TimeFilter['unit']
export type Family = 'email' | 'subscribed' | 'date' | 'data' | 'event' | 'activity' | 'segment'

export const units = ['minutes', 'hours', 'days'] as const satisfies Unit[]
export const activities = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained']

/** The API's limits. */
export const maxDepth = 10
export const maxFilters = 100

const timed = [
	'within',
	'olderThan',
	'triggeredWithin',
	'triggeredOlderThan',
	'notTriggeredWithin',
] as const satisfies TimeFilter['operator'][]
const stating = [
	'exists',
	'notExists',
	'triggered',
	'notTriggered',
	'memberOfSegment',
	'notMemberOfSegment',
] as const satisfies StateFilter['operator'][]
const equality = ['equals', 'notEquals'] as const
const substring = ['contains', 'notContains'] as const
const comparing = [
	'greaterThan',
	'lessThan',
	'greaterThanOrEqual',
	'lessThanOrEqual',
] as const satisfies ValueFilter['operator'][]
const presence = ['exists', 'notExists'] as const
const age = ['within', 'olderThan'] as const
const triggering = [
	'triggered',
	'notTriggered',
	'triggeredWithin',
	'triggeredOlderThan',
	'notTriggeredWithin',
] as const

export const operatorsOf: Record<Family, readonly Operator[]> = {
	email: [...equality, ...substring],
	subscribed: equality,
	date: [...age, ...equality, ...comparing],
	data: [...equality, ...substring, ...comparing, ...presence, ...age],
	event: triggering,
	activity: triggering,
	segment: ['memberOfSegment', 'notMemberOfSegment'],
}

/** Undefined: no field is chosen yet. */
export function familyOf(field: string): Family | undefined {
	if (field === 'email' || field === 'subscribed') return field
	if (field === 'createdAt' || field === 'updatedAt') return 'date'
	const [root, rest] = partsOf(field)
	if (!rest) return undefined
	if (root === 'email') return 'activity'
	return root === 'data' || root === 'event' || root === 'segment' ? root : undefined
}

/** `data.city.name` is `data` and `city.name`. */
export function partsOf(field: string): [root: string, rest: string] {
	const dot = field.indexOf('.')
	return dot < 0 ? [field, ''] : [field.slice(0, dot), field.slice(dot + 1)]
}

export const isTimed = (operator: Operator): operator is TimeFilter['operator'] =>
	(timed as readonly Operator[]).includes(operator)
export const isStating = (operator: Operator): operator is StateFilter['operator'] =>
	(stating as readonly Operator[]).includes(operator)
export const isComparing = (operator: Operator) =>
	(comparing as readonly Operator[]).includes(operator)
export const isContaining = (operator: Operator) =>
	(substring as readonly Operator[]).includes(operator)

/** A filter of this field and operator that keeps what fits of the old one. */
export function changedFilter(old: Filter, field: string, operator: Operator): Filter {
	if (isStating(operator)) return { field, operator }
	const unit = units.find((one) => one === old.unit) ?? 'days'
	if (isTimed(operator)) {
		const amount = isTimed(old.operator) && typeof old.value === 'number' ? old.value : 30
		return { field, operator, value: amount, unit }
	}
	const isSameKind = !isTimed(old.operator) && familyOf(old.field) === familyOf(field)
	const keeps = isSameKind && old.field === field && fits(operator, old.value)
	return { field, operator, value: keeps ? old.value : startOf(field) }
}

const startOf = (field: string) => (field === 'subscribed' ? true : undefined)

function fits(operator: Operator, value: unknown) {
	if (isContaining(operator)) return typeof value === 'string'
	return !isComparing(operator) || typeof value === 'string' || typeof value === 'number'
}

export function withValue(filter: Filter, value: unknown): Filter {
	const { field, operator } = filter
	return isStating(operator) || isTimed(operator) ? filter : { field, operator, value }
}

export function withAmount(filter: Filter, value: number, unit: string): Filter {
	const { field, operator } = filter
	if (!isTimed(operator)) return filter
	return { field, operator, value, unit: units.find((one) => one === unit) ?? 'days' }
}

/** Before a field is chosen. */
export const blankFilter: Filter = { field: '', operator: 'equals', value: undefined }
export const blankGroup: ConditionGroup = { filters: [blankFilter] }
export const blankCondition: Condition = { logic: 'AND', groups: [blankGroup] }

export function* filtersOf({ groups }: Condition): Generator<Filter> {
	for (const { filters, conditions } of groups) {
		yield* filters ?? []
		if (conditions) yield* filtersOf(conditions)
	}
}

export const countFilters = (condition: Condition) => [...filtersOf(condition)].length

/** Whether the API would take it: nothing in it is still to be filled in. */
export const isComplete = (condition: Condition): boolean =>
	condition.groups.length > 0 &&
	condition.groups.every(
		({ filters = [], conditions }) =>
			(filters.length > 0 || conditions) &&
			filters.every(isFilled) &&
			(!conditions || isComplete(conditions)),
	)

function isFilled({ field, operator, value }: Filter) {
	if (!familyOf(field)) return false
	if (isStating(operator)) return true
	if (isTimed(operator)) return Number(value) > 0
	return value !== undefined && !(typeof value === 'string' && value.trim() === '')
}
