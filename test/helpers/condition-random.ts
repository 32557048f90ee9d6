import {
	type Condition,
	familyOperators,
	fieldOf,
	type Filter,
	timedOperators,
	units,
	valueOperators,
} from '../../db/conditions/condition.ts'
import type { Person } from './condition-oracle.ts'
import type { Random } from './random.ts'

export const now = Date.UTC(2026, 5, 15, 12, 0, 0)
const dayMs = 86_400_000
export const hostile = [
	`'; drop table contacts; --`,
	`$1`,
	`{0}`,
	`{c}`,
	'"',
	'\\',
	`\\' or true --`,
	'%',
	'_',
	'a%b_c',
	'ÅŸİ',
	'😀🏳️‍🌈',
	'__proto__',
	'constructor',
	'null',
	'',
	' ',
	'{"a":1}',
	'line\nbreak\r\t',
	'\u2028',
]
const dates = [
	'2026-06-15',
	'2026-06-14',
	'2026-06-15T12:00:00Z',
	'2026-06-15T12:00:00.000Z',
	'2026-06-15T01:30:00+02:00',
	'2026-06-14T23:59:59.999Z',
	'2026-06-16T00:00:00+0530',
	'2026-06-14T20:00-05:00',
	'2026-06-15T08:00',
	'2020-02-29',
	'2026-02-30',
	'2026-13-01',
	'2026-06-15T25:00:00Z',
	'2026-06-15T24:00:00Z',
	'2026-06-15 12:00:00',
	'2026-06-15T12:00:00+15:00',
	'2026-06-1',
	'0000-01-01',
	'0001-01-01',
	'9999-12-31',
	'20260615',
	'today',
	'infinity',
	'epoch',
]
const numbers = [0, 5, -1, 5.5, 0.1, 1e21, -1e-7, 2 ** 53, 1e300]
const texts = ['5', 'true', 'pro', 'Pro', 'professional', 'a', 'b', 'ab', 'ä', 'z']
export const keys = [
	'plan',
	'age',
	'when',
	'flag',
	'deep',
	'mix',
	// Keys from columns `Tel.` and `Plan.A`, and keys that dotted paths lead to.
	'tel.',
	'.',
	'a..b',
	'plan.a',
	'deep.a.b',
	'deep.',
	...hostile.filter((k) => k !== ''),
]

export const randomScalar = (random: Random): unknown =>
	random.one([
		() => random.one(texts),
		() => random.one(numbers),
		() => random.one([true, false]),
		() => random.one(dates),
		() => random.one(hostile),
		() => null,
	])()

const randomValue = (random: Random): unknown =>
	random.next() < 0.85
		? randomScalar(random)
		: random.one([
				['a', 'b'],
				['pro', 5, null],
				[['a']],
				[],
				[5],
				{},
				{ a: 1 },
				{ b: 2, a: 1 },
				{ a: 'x' },
			])

export function randomData(random: Random) {
	const data: Record<string, unknown> = Object.create(null)
	for (const key of keys) if (random.next() < 0.5) data[key] = randomValue(random)
	if (random.next() < 0.6)
		data['deep'] = { a: { b: randomValue(random) }, [random.one(hostile)]: randomValue(random) }
	return data
}

const past = (random: Random) =>
	now - random.one([0, 1, 60_000, 59_999, 3_600_000, dayMs, dayMs + 1, 2 * dayMs, 40 * dayMs])

export const eventNames = ['login', 'order.paid', ...hostile.slice(0, 6)]
const activities = ['sent', 'opened', 'clicked', 'bounced'] as const

export const randomPerson = (random: Random, index: number): Omit<Person, 'id'> => ({
	email: `${random.one(['ann', 'bob%', 'o_k', 'zoe'])}${index}@${random.one(['example.com', 'acme.org'])}`,
	subscribed: random.next() < 0.5,
	createdAt: past(random),
	updatedAt: past(random),
	data: randomData(random),
	events: Array.from({ length: random.below(4) }, () => ({
		name: random.one(eventNames),
		at: past(random),
	})),
	mails: Array.from({ length: random.below(3) }, () =>
		Object.fromEntries(
			activities.filter(() => random.next() < 0.5).map((activity) => [activity, past(random)]),
		),
	),
})

function randomField(random: Random, segmentIds: string[]) {
	const kind = random.next()
	if (kind < 0.5)
		return `data.${random.one([...keys, 'deep.a', 'deep.a.b', 'deep.x', 'plan.a', 'missing'])}`
	if (kind < 0.65) return random.one(['email', 'subscribed', 'createdAt', 'updatedAt'])
	if (kind < 0.8) return `event.${random.one([...eventNames, 'never'])}`
	if (kind < 0.9 || segmentIds.length === 0)
		return `email.${random.one([...activities, 'open', 'click'])}`
	return `segment.${random.one(segmentIds)}`
}

function randomFilter(random: Random, segmentIds: string[]): Filter {
	const field = randomField(random, segmentIds)
	const { family } = fieldOf(field)!
	const operator = random.one(familyOperators[family])
	if (timedOperators.includes(operator)) {
		const value = random.one([1, 0.5, 24, 60, 2, 30, 1e-9, 1e12, 1e300])
		return { field, operator, value, unit: random.one(units) }
	}
	if (!valueOperators.includes(operator)) return { field, operator }
	const isEquality = operator === 'equals' || operator === 'notEquals'
	const isSubstring = operator === 'contains' || operator === 'notContains'
	const isNull = isEquality && random.next() < 0.1
	const text = () => random.one([...texts, ...hostile, ...dates])
	const value = {
		email: () =>
			random.one(['ann', 'BOB%', 'o_k', '@ACME', '%', '_', 'ann1@example.com', 'Zoe3@acme.org']),
		subscribed: () => random.one([true, false, 'true', 'false']),
		date: () => random.one(dates.slice(0, 10)),
		data: () =>
			isSubstring
				? text()
				: isEquality
					? randomValue(random)
					: random.one([random.one(numbers), text()]),
	}[family as 'email']
	return { field, operator, value: isNull ? null : value() }
}

export const randomTree = (random: Random, segmentIds: string[], depth = 1): Condition => ({
	logic: random.one(['AND', 'OR']),
	groups: Array.from({ length: 1 + random.below(depth === 1 ? 3 : 2) }, () => {
		const filters = Array.from({ length: random.below(3) }, () => randomFilter(random, segmentIds))
		const isNested = filters.length === 0 || random.next() < 0.25
		return isNested && depth < 5
			? { filters, conditions: randomTree(random, segmentIds, depth + 1) }
			: { filters: filters.length > 0 ? filters : [randomFilter(random, segmentIds)] }
	}),
})
