import test from 'ava'
import type { Filter } from '../db/conditions/condition.ts'
import { openSegments, plan } from './helpers/segments.ts'

const only = (filter: unknown) => ({ logic: 'AND', groups: [{ filters: [filter] }] })
const plain = { field: 'data.plan', operator: 'equals', value: 'pro' }
const nested = (depth: number): object =>
	depth === 1
		? only(plain)
		: { logic: 'OR', groups: [{ filters: [], conditions: nested(depth - 1) }] }

test('a fault in a condition is a 422 with the path of the node', async (t) => {
	const { call } = await openSegments(t)
	const at = 'condition.groups.0.filters.0'
	const days = { value: 5, unit: 'days' }
	const cases: [object, string, string][] = [
		[{ groups: [{ filters: [plain] }] }, 'condition.logic', 'required'],
		[{ logic: 'and', groups: [{ filters: [plain] }] }, 'condition.logic', 'invalid_enum_value'],
		[{ logic: 'AND' }, 'condition.groups', 'required'],
		[{ logic: 'AND', groups: {} }, 'condition.groups', 'invalid_type'],
		[{ logic: 'AND', groups: ['x'] }, 'condition.groups.0', 'invalid_type'],
		[{ logic: 'AND', groups: [{}] }, 'condition.groups.0.filters', 'too_small'],
		[
			{ logic: 'AND', groups: [{ filters: [plain] }, { filters: [] }] },
			'condition.groups.1.filters',
			'too_small',
		],
		[{ ...only(plain), not: true }, 'condition.not', 'unrecognized_keys'],
		[
			{ logic: 'AND', groups: [{ filter: [plain], filters: [plain] }] },
			'condition.groups.0.filter',
			'unrecognized_keys',
		],
		[only({ ...plain, vaule: 1 }), `${at}.vaule`, 'unrecognized_keys'],
		[only('x'), at, 'invalid_type'],
		[only({ operator: 'equals', value: 1 }), `${at}.field`, 'required'],
		[only({ field: 5, operator: 'equals', value: 1 }), `${at}.field`, 'invalid_type'],
		[only({ field: 'plan', operator: 'equals', value: 1 }), `${at}.field`, 'invalid_enum_value'],
		[only({ field: 'data.', operator: 'exists' }), `${at}.field`, 'invalid_enum_value'],
		[only({ field: 'email.toString', operator: 'triggered' }), `${at}.field`, 'invalid_enum_value'],
		[only({ field: 'segment.x', operator: 'memberOfSegment' }), `${at}.field`, 'custom'],
		[only({ field: 'data.a', value: 1 }), `${at}.operator`, 'required'],
		[only({ ...plain, operator: 'is' }), `${at}.operator`, 'invalid_enum_value'],
		[only({ ...plain, operator: 5 }), `${at}.operator`, 'invalid_type'],
		[only({ field: 'email', operator: 'exists' }), `${at}.operator`, 'invalid_enum_value'],
		[
			only({ field: 'event.a', operator: 'equals', value: 1 }),
			`${at}.operator`,
			'invalid_enum_value',
		],
		[only({ field: 'data.a', operator: 'equals' }), `${at}.value`, 'required'],
		[only({ field: 'data.a', operator: 'contains', value: null }), `${at}.value`, 'invalid_type'],
		[only({ field: 'data.a', operator: 'contains', value: 5 }), `${at}.value`, 'invalid_type'],
		[
			only({ field: 'data.a', operator: 'greaterThan', value: true }),
			`${at}.value`,
			'invalid_type',
		],
		[
			only({ field: 'subscribed', operator: 'equals', value: 'yes' }),
			`${at}.value`,
			'invalid_type',
		],
		[
			only({ field: 'createdAt', operator: 'equals', value: '2026-02-30' }),
			`${at}.value`,
			'invalid_string',
		],
		[
			only({ field: 'event.a', operator: 'triggeredWithin', ...days, value: 0 }),
			`${at}.value`,
			'too_small',
		],
		[
			only({ field: 'event.a', operator: 'triggeredWithin', ...days, value: '5' }),
			`${at}.value`,
			'invalid_type',
		],
		[
			only({ field: 'event.a', operator: 'triggeredWithin', ...days, unit: 'weeks' }),
			`${at}.unit`,
			'invalid_enum_value',
		],
		[only({ field: 'event.a', operator: 'triggeredWithin', value: 5 }), `${at}.unit`, 'required'],
	]
	for (const [condition, field, code] of cases) {
		const answer = await call('POST', '', { name: 'Wrong', condition })
		t.is(answer.statusCode, 422, field)
		const [error] = answer.json().error.errors
		t.deepEqual({ field: error.field, code: error.code }, { field, code })
	}
	t.deepEqual((await call('GET', '')).json(), [])
})

test('a condition names an event without spaces around its name, as events are stored', async (t) => {
	const { call } = await openSegments(t)
	const create = (name: string) => {
		const condition = only({ field: `event.${name}`, operator: 'notTriggered' })
		return call('POST', '', { name: 'Quiet', condition })
	}
	for (const name of [' log in', 'log in ', ' ']) {
		const answer = await create(name)
		t.is(answer.statusCode, 422, name)
		const field = 'condition.groups.0.filters.0.field'
		t.like(answer.json().error.errors[0], { field, code: 'invalid_string' })
	}
	t.is((await create('log in')).statusCode, 201)
})

test('at most ten levels and a hundred filters are allowed', async (t) => {
	const { call } = await openSegments(t)
	const many = (count: number) => ({
		logic: 'AND',
		groups: [{ filters: Array.from({ length: count }, () => plain) }],
	})
	const status = async (condition: object) => {
		const answer = await call('POST', '', { name: 'Large', condition })
		return [answer.statusCode, answer.json().error?.errors[0].code]
	}
	t.deepEqual(await status(nested(10)), [201, undefined])
	t.deepEqual(await status(nested(11)), [422, 'too_big'])
	t.deepEqual(await status(many(100)), [201, undefined])
	t.deepEqual(await status(many(101)), [422, 'too_big'])
	t.deepEqual(await status(only({ ...plain, value: 'x'.repeat(70_000) })), [422, 'too_big'])
})

test('a segment that is unknown or foreign cannot be part of a condition', async (t) => {
	const { call, pool } = await openSegments(t)
	const { rows } = await pool.query<{ id: string }>(
		`with p as (insert into projects (name, public_key, secret_key_digest, secret_key_ending)
			values ('Other', 'pk', 'x', 'x') returning id)
		insert into segments (project_id, name, type) select id, 'Foreign', 'STATIC' from p returning id`,
	)
	for (const id of [rows[0]!.id, '018f0000-0000-7000-8000-000000000000']) {
		const condition = { logic: 'OR', groups: [{ filters: [plain, member(id)] }] }
		const answer = await call('POST', '', { name: 'Of another', condition })
		t.is(answer.statusCode, 422)
		t.like(answer.json().error.errors[0], {
			field: 'condition.groups.0.filters.1.field',
			code: 'custom',
		})
	}
})

test('segments cannot be made of each other in a circle, nor of themselves', async (t) => {
	const { call } = await openSegments(t)
	const create = async (name: string, filter: object): Promise<string> =>
		(await call('POST', '', { name, condition: only(filter) })).json().id
	const a = await create('A', plain)
	const b = await create('B', member(a))
	const c = await create('C', member(b.toUpperCase()))
	for (const id of [a, b, c]) {
		const answer = await call('PATCH', `/${a}`, { condition: only(member(id)) })
		t.is(answer.statusCode, 422)
		t.like(answer.json().error.errors[0], {
			field: 'condition.groups.0.filters.0.field',
			code: 'custom',
		})
	}
	const both = await Promise.all([
		call('PATCH', `/${await create('D', plain)}`, { condition: only(member(c)) }),
		call('PATCH', `/${a}`, { condition: only(plain) }),
	])
	t.deepEqual(
		both.map(({ statusCode }) => statusCode),
		[200, 200],
	)
})

test('of two simultaneous changes that would close a circle one is refused', async (t) => {
	const { call } = await openSegments(t)
	const create = async (name: string): Promise<string> =>
		(await call('POST', '', { name, condition: only(plain) })).json().id
	const [a, b] = [await create('A'), await create('B')]
	const both = await Promise.all([
		call('PATCH', `/${a}`, { condition: only(member(b)) }),
		call('PATCH', `/${b}`, { condition: only(member(a)) }),
	])
	t.is(
		both
			.map(({ statusCode }) => statusCode)
			.toSorted((x, y) => x - y)
			.join(),
		'200,422',
	)
})

test('a segment and the segments it uses may have at most a thousand filters', async (t) => {
	const { call } = await openSegments(t)
	const of = (id: string | undefined, times: number) => ({
		logic: 'OR',
		groups: Array.from({ length: times }, () => ({ filters: [id ? member(id) : plain] })),
	})
	const first = (await call('POST', '', { name: 'First', condition: of(undefined, 15) })).json()
	const second = await call('POST', '', { name: 'Second', condition: of(first.id, 60) })
	t.is(second.statusCode, 201)
	const third = await call('POST', '', { name: 'Third', condition: of(first.id, 70) })
	t.like(third.json().error.errors[0], { field: 'condition', code: 'too_big' })
	const grown = await call('PATCH', `/${first.id}`, { condition: of(undefined, 16) })
	t.is(grown.statusCode, 422, 'the second would be too large')
})

test('the segments that a segment uses are found at any depth, and values of filters are not among them', async (t) => {
	const { call } = await openSegments(t)
	const nestedIn = (depth: number, condition: object): object =>
		depth === 0
			? condition
			: { logic: 'OR', groups: [{ filters: [], conditions: nestedIn(depth - 1, condition) }] }
	const create = async (condition: object): Promise<string> => {
		const answer = await call('POST', '', { name: 'Made', condition })
		t.is(answer.statusCode, 201, answer.body)
		return answer.json().id
	}
	const first = await create(only(plain))
	const deep = await create(nestedIn(9, only(member(first))))
	const circle = await call('PATCH', `/${first}`, { condition: nestedIn(5, only(member(deep))) })
	t.like(circle.json().error.errors[0], {
		field: `condition${'.groups.0.conditions'.repeat(5)}.groups.0.filters.0.field`,
		code: 'custom',
	})
	const alike = { groups: [{ filters: [member(first)], conditions: only(member(first)) }] }
	const apart = await create(only({ ...plain, value: { ...alike, filters: [member(first)] } }))
	t.is((await call('PATCH', `/${first}`, { condition: only(member(apart)) })).statusCode, 200)
})

test('a segment that another is made of cannot be deleted before', async (t) => {
	const { call } = await openSegments(t)
	const a = (await call('POST', '', { name: 'A', type: 'STATIC' })).json()
	const b = (await call('POST', '', { name: 'B', condition: only(member(a.id)) })).json()
	const usage = (await call('GET', `/${a.id}/usage`)).json()
	t.deepEqual(usage, { segments: [{ id: b.id, name: 'B' }], campaigns: [], workflows: [] })
	const refused = await call('DELETE', `/${a.id}`)
	t.is(refused.statusCode, 409)
	t.like(refused.json().error, { code: 'CONFLICT', details: { usedBy: usage } })
	t.is((await call('DELETE', `/${b.id}`)).statusCode, 204)
	t.deepEqual((await call('GET', `/${a.id}/usage`)).json().segments, [])
	t.is((await call('DELETE', `/${a.id}`)).statusCode, 204)
})

const member = (id: string): Filter => ({ field: `segment.${id}`, operator: 'memberOfSegment' })

test('a chain of segments is refused before it is too long to be evaluated, wherever it is joined', async (t) => {
	const { call, app, withSecretKey: headers } = await openSegments(t)
	const memberOf = (id: string) => ({
		logic: 'AND',
		groups: [{ filters: [{ field: `segment.${id}`, operator: 'memberOfSegment' }] }],
	})
	const chain = async (name: string, length: number) => {
		const ids: string[] = []
		for (let i = 0; i < length; i++) {
			const condition = i === 0 ? plan('pro') : memberOf(ids.at(-1)!)
			const answer = await call('POST', '', { name: `${name} ${i}`, condition })
			t.is(answer.statusCode, 201, answer.body)
			ids.push(answer.json().id)
		}
		return ids
	}
	const long = await chain('Long', 31)
	const refused = await call('POST', '', { name: 'More', condition: memberOf(long.at(-1)!) })
	t.is(refused.statusCode, 422)
	t.like(refused.json().error.errors[0], { field: 'condition', code: 'too_big' })
	const short = await chain('Short', 3)
	// The segments that lead to the changed one become too deep, not itself.
	const joined = await call('PATCH', `/${short[0]}`, { condition: memberOf(long[28]!) })
	t.is(joined.statusCode, 422)
	t.is(joined.json().error.errors[0].code, 'too_big')
	t.is((await call('PATCH', `/${short[0]}`, { condition: memberOf(long[27]!) })).statusCode, 200)
	for (const top of [long.at(-1)!, short.at(-1)!]) {
		t.is((await call('GET', `/${top}/contacts`)).statusCode, 200)
		const campaign = { audienceType: 'SEGMENT', segmentId: top, type: 'MARKETING' }
		const counted = await app.inject({
			method: 'POST',
			url: '/campaigns/audience',
			headers,
			payload: campaign,
		})
		t.is(counted.statusCode, 200, counted.body)
	}
})
