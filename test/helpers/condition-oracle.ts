import type { Condition, Filter } from '../../db/conditions/condition.ts'

// Conditions in plain TypeScript, written from the specification and not from the compiler.

export interface Person {
	id: string
	email: string
	subscribed: boolean
	createdAt: number
	updatedAt: number
	data: Record<string, unknown>
	events: { name: string; at: number }[]
	/** The time of each activity on each of their mails. */
	mails: Partial<Record<'sent' | 'opened' | 'clicked' | 'bounced', number>>[]
}

export interface Group {
	/** Undefined: evaluate the condition. */
	members?: Set<string>
	condition?: Condition
}

type World = { now: number; segments: Map<string, Group> }

export const matches = (tree: Condition, person: Person, world: World): boolean => {
	const holds = tree.groups.map(
		({ filters = [], conditions }) =>
			filters.every((filter) => satisfies(filter, person, world)) &&
			(!conditions || matches(conditions, person, world)),
	)
	return tree.logic === 'AND' ? holds.every(Boolean) : holds.some(Boolean)
}

const ms = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 }
const dayMs = ms.days

function satisfies(filter: Filter, person: Person, world: World): boolean {
	const { field, operator, value } = filter
	const cut = world.now - Number(value) * ms[filter.unit ?? 'days']
	if (field === 'email') return byText(operator, person.email, value)
	if (field === 'subscribed') {
		const isSame = value === person.subscribed || value === `${person.subscribed}`
		return operator === 'equals' ? isSame : !isSame
	}
	if (field === 'createdAt' || field === 'updatedAt') return byTime(filter, person[field], cut)
	const rest = field.slice(field.indexOf('.') + 1)
	if (field.startsWith('event.'))
		return happened(
			operator,
			person.events.filter(({ name }) => name === rest).map(({ at }) => at),
			cut,
		)
	if (field.startsWith('email.')) {
		const activity = { open: 'opened', click: 'clicked' }[rest] ?? rest
		const times = person.mails
			.map((mail) => mail[activity as 'sent'])
			.filter((at) => at !== undefined)
		return happened(operator, times, cut)
	}
	if (field.startsWith('segment.')) {
		const { members, condition } = world.segments.get(rest)!
		const isMember = members?.has(person.id) ?? matches(condition!, person, world)
		return operator === 'memberOfSegment' ? isMember : !isMember
	}
	const reached = stored(person.data, rest.split('.'))
	return byData(filter, reached === undefined ? stored(person.data, [rest]) : reached, cut)
}

function byText(operator: string, email: string, value: unknown) {
	const wanted = (value as string | null)?.toLowerCase()
	if (operator === 'equals') return email === wanted
	if (operator === 'notEquals') return email !== wanted
	return email.includes(wanted!) === (operator === 'contains')
}

function byTime({ operator, value }: Filter, at: number, cut: number) {
	if (operator === 'within') return at >= cut
	if (operator === 'olderThan') return at < cut
	const text = value as string | null
	const given = text === null ? Number.NaN : timeOf(text)!
	const isSame = text?.length === 10 ? at >= given && at < given + dayMs : at === given
	if (operator === 'equals') return isSame
	if (operator === 'notEquals') return !isSame
	return ordered(operator, at - given)
}

function happened(operator: string, times: number[], cut: number) {
	const since = times.some((at) => at >= cut)
	switch (operator) {
		case 'triggered':
			return times.length > 0
		case 'notTriggered':
			return times.length === 0
		case 'triggeredWithin':
			return since
		case 'notTriggeredWithin':
			return !since
		default:
			return times.length > 0 && !since
	}
}

function stored(data: unknown, path: string[]): unknown {
	let found: unknown = data
	for (const key of path) {
		if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
		found = (found as Record<string, unknown>)[key]
	}
	return found
}

function byData({ operator, value }: Filter, found: unknown, cut: number): boolean {
	const isMissing = found === undefined
	const time = typeof found === 'string' ? timeOf(found) : undefined
	switch (operator) {
		case 'exists':
			return !isMissing && found !== null
		case 'notExists':
			return isMissing || found === null
		case 'within':
			return time !== undefined && time >= cut
		case 'olderThan':
			return time !== undefined && time < cut
		case 'equals':
			return !isMissing && isEqual(found, value, time)
		case 'notEquals':
			return !isMissing && !isEqual(found, value, time)
		case 'contains':
			return holdsText(found, value)
		case 'notContains':
			return !isMissing && !holdsText(found, value)
		default:
			return compares(operator, found, value, time)
	}
}

const holdsText = (found: unknown, value: unknown) =>
	Array.isArray(found)
		? found.some((element) => element === value)
		: typeof found === 'string' && found.includes(value as string)

function isEqual(found: unknown, value: unknown, time: number | undefined) {
	const given = typeof value === 'string' && value.length === 10 ? timeOf(value) : undefined
	if (given !== undefined) return time !== undefined && time >= given && time < given + dayMs
	return canonical(found) === canonical(value)
}

function compares(operator: string, found: unknown, value: unknown, time: number | undefined) {
	if (typeof found !== typeof value) return false
	if (typeof value === 'number') return ordered(operator, Number(found) - value)
	const given = timeOf(value as string)
	if (given !== undefined) return time !== undefined && ordered(operator, time - given)
	return ordered(
		operator,
		Buffer.compare(Buffer.from(found as string), Buffer.from(value as string)),
	)
}

const ordered = (operator: string, difference: number) =>
	({
		greaterThan: difference > 0,
		lessThan: difference < 0,
		greaterThanOrEqual: difference >= 0,
		lessThanOrEqual: difference <= 0,
	})[operator]!

/** JSON with the members in sorted order. */
const canonical = (value: unknown): string =>
	JSON.stringify(value, (_, inner: unknown) =>
		typeof inner === 'object' && inner !== null && !Array.isArray(inner)
			? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
			: inner,
	)

/** Milliseconds of an ISO 8601 string; undefined for a string that only resembles one. */
export function timeOf(text: string): number | undefined {
	if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-](0\d|1[0-4]):?[0-5]\d)?)?$/.test(text))
		return undefined
	const day = text.slice(0, 10)
	const midnight = Date.parse(`${day}T00:00:00Z`)
	// JavaScript reads 30 February as 2 March, and accepts year 0.
	if (
		Number.isNaN(midnight) ||
		day < '0001' ||
		new Date(midnight).toISOString().slice(0, 10) !== day
	)
		return undefined
	if (text.length === 10) return midnight
	const hasZone = /(Z|[+-]\d\d:?\d\d)$/.test(text.slice(10))
	const parsed = Date.parse((hasZone ? text : `${text}Z`).replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
	return Number.isNaN(parsed) || text.slice(11, 13) === '24' ? undefined : parsed
}
