/** A condition tree on contacts, for segments, campaigns, bulk jobs and automations. */
export interface Condition {
	/** Joins the groups; within a group all filters must match. */
	logic: 'AND' | 'OR'
	groups: ConditionGroup[]
}

export interface ConditionGroup {
	filters?: Filter[]
	conditions?: Condition | null
}

export interface Filter {
	field: string
	operator: Operator
	value?: unknown
	unit?: Unit | null
}

export const maxDepth = 10
export const maxFilters = 100

export const units = ['minutes', 'hours', 'days'] as const
export type Unit = (typeof units)[number]

const equality = ['equals', 'notEquals'] as const
const substring = ['contains', 'notContains'] as const
export const comparisons = [
	'greaterThan',
	'lessThan',
	'greaterThanOrEqual',
	'lessThanOrEqual',
] as const
const presence = ['exists', 'notExists'] as const
const age = ['within', 'olderThan'] as const
const triggering = [
	'triggered',
	'notTriggered',
	'triggeredWithin',
	'triggeredOlderThan',
	'notTriggeredWithin',
] as const
const belonging = ['memberOfSegment', 'notMemberOfSegment'] as const

export const operators = [
	...equality,
	...substring,
	...comparisons,
	...presence,
	...age,
	...triggering,
	...belonging,
] as const
export type Operator = (typeof operators)[number]

/** The operators that take an amount of time. */
export const timedOperators: readonly Operator[] = [
	...age,
	'triggeredWithin',
	'triggeredOlderThan',
	'notTriggeredWithin',
]
/** The operators that take a value to compare with. */
export const valueOperators: readonly Operator[] = [...equality, ...substring, ...comparisons]

/** The ledger's time of each activity on a mail. */
const activityColumns: Record<string, string> = {
	sent: 'sent_at',
	delivered: 'delivered_at',
	delivery: 'delivered_at',
	opened: 'opened_at',
	open: 'opened_at',
	clicked: 'clicked_at',
	click: 'clicked_at',
	bounced: 'bounced_at',
	bounce: 'bounced_at',
	complained: 'complained_at',
	complaint: 'complained_at',
}

/** The subject of a filter's field. */
export type Field =
	| { family: 'email' | 'subscribed' }
	| { family: 'date'; column: 'created_at' | 'updated_at' }
	| { family: 'data'; path: string[] }
	| { family: 'event'; name: string }
	| { family: 'activity'; column: string }
	| { family: 'segment'; id: string }

export const familyOperators: Record<Field['family'], readonly Operator[]> = {
	email: [...equality, ...substring],
	subscribed: equality,
	date: [...equality, ...comparisons, ...age],
	data: [...equality, ...substring, ...comparisons, ...presence, ...age],
	event: triggering,
	activity: triggering,
	segment: belonging,
}

/** Undefined: there is no such field. */
export function fieldOf(field: string): Field | undefined {
	if (field === 'email' || field === 'subscribed') return { family: field }
	if (field === 'createdAt') return { family: 'date', column: 'created_at' }
	if (field === 'updatedAt') return { family: 'date', column: 'updated_at' }
	const dot = field.indexOf('.')
	const rest = field.slice(dot + 1)
	if (dot < 0 || rest === '') return undefined
	switch (field.slice(0, dot)) {
		case 'data':
			// Parts may be empty: a column `Tel.` of a file is the field `data.tel.`.
			return { family: 'data', path: rest.split('.') }
		case 'event':
			return { family: 'event', name: rest }
		case 'email': {
			const column = Object.hasOwn(activityColumns, rest) ? activityColumns[rest] : undefined
			return column === undefined ? undefined : { family: 'activity', column }
		}
		case 'segment':
			return { family: 'segment', id: rest.toLowerCase() }
		default:
			return undefined
	}
}

export function* filtersOf(condition: Condition): Generator<Filter> {
	for (const { filters, conditions } of condition.groups) {
		yield* filters ?? []
		if (conditions) yield* filtersOf(conditions)
	}
}

/** The segments that a condition names directly. */
export const segmentsIn = (condition: Condition) =>
	[...filtersOf(condition)].flatMap(({ field }) => {
		const about = fieldOf(field)
		return about?.family === 'segment' ? [about.id] : []
	})

/** The members of a segment. */
export const membersOf = (segmentId: string): Condition => ({
	logic: 'AND',
	groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOfSegment' }] }],
})
