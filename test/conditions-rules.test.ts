import test, { type ExecutionContext } from 'ava'
import { compileFor } from '../db/conditions/condition-segments.ts'
import type { Condition, Filter } from '../db/conditions/condition.ts'
import { numbered, sql } from '../db/sql.ts'
import { uuid } from '../db/sql-types.ts'
import { poolOf } from '../db/statement.ts'
import { createProject } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'

test('a missing field matches neither a filter nor its opposite; only notExists', async (t) => {
	const { find } = await open(t, { has: { plan: 'pro' }, isNull: { plan: null }, lacks: {} })
	const on = (operator: Filter['operator'], value?: unknown) =>
		find({ field: 'data.plan', operator, value })
	t.is(await on('equals', 'free'), '')
	t.is(await on('notEquals', 'free'), 'has isNull')
	t.is(await on('contains', 'pr'), 'has')
	t.is(await on('notContains', 'x'), 'has isNull')
	t.is(await on('exists'), 'has')
	t.is(await on('notExists'), 'isNull lacks')
	t.is(await on('equals', null), 'isNull')
})

test('contains finds a part of a string, and a whole element of an array', async (t) => {
	const { find } = await open(t, {
		text: { tags: 'vip, new' },
		list: { tags: ['vip', 5] },
		longer: { tags: ['vips'] },
		nested: { tags: [['vip']] },
		number: { tags: 5 },
		lacks: {},
	})
	const on = (operator: Filter['operator'], value: string) =>
		find({ field: 'data.tags', operator, value })
	t.is(await on('contains', 'vip'), 'text list')
	t.is(await on('notContains', 'vip'), 'longer nested number')
	t.is(await on('contains', '5'), '')
})

test('a contact that does not match an evaluated segment is outside it, even if it lacks the field', async (t) => {
	const { find, pool, projectId } = await open(t, { has: { plan: 'pro' }, lacks: {} })
	const condition = only({ field: 'data.plan', operator: 'equals', value: 'pro' })
	const { rows } = await pool.query<{ id: string }>(
		`insert into segments (project_id, name, condition) values ($1, 'Pro', $2) returning id`,
		[projectId, JSON.stringify(condition)],
	)
	const field = `segment.${rows[0]!.id}`
	t.is(await find({ field, operator: 'memberOfSegment' }), 'has')
	t.is(await find({ field, operator: 'notMemberOfSegment' }), 'lacks')
})

test('a day is the whole of that day in UTC, however the stored time is written', async (t) => {
	const { find } = await open(t, {
		before: { at: '2026-06-14T23:59:59.999Z' },
		day: { at: '2026-06-15' },
		eastern: { at: '2026-06-16T01:00:00+02:00' },
		last: { at: '2026-06-15T23:59:59.999Z' },
		next: { at: '2026-06-16' },
		number: { at: 20260615 },
		nonsense: { at: '2026-06-31' },
		words: { at: 'on 2026-06-15' },
	})
	const on = (operator: Filter['operator'], value: unknown) =>
		find({ field: 'data.at', operator, value })
	t.is(await on('equals', '2026-06-15'), 'day eastern last')
	t.is(await on('notEquals', '2026-06-15'), 'before next number nonsense words')
	t.is(await on('greaterThan', '2026-06-15'), 'eastern last next')
	t.is(await on('lessThanOrEqual', '2026-06-15'), 'before day')
	t.is(await on('equals', '2026-06-31'), 'nonsense', 'what is no date is compared as it stands')
})

test('within and olderThan exclude each other, and a value that is no date matches neither', async (t) => {
	const { find } = await open(t, {
		exact: { at: '2026-06-10T12:00:00Z' },
		older: { at: '2026-06-10T11:59:59.999Z' },
		future: { at: '2030-01-01' },
		word: { at: 'yesterday' },
		number: { at: 5 },
	})
	const time = { field: 'data.at', value: 5, unit: 'days' } as const
	t.is(await find({ ...time, operator: 'within' }), 'exact future')
	t.is(await find({ ...time, operator: 'olderThan' }), 'older')
	t.is(await find({ ...time, operator: 'olderThan', value: 1e308 }), '')
})

test('equality keeps the types of JSON', async (t) => {
	const { find } = await open(t, {
		number: { v: 5 },
		text: { v: '5' },
		flag: { v: true },
		list: { v: [5] },
		deep: { v: { a: { b: 5 } } },
	})
	t.is(await find({ field: 'data.v', operator: 'equals', value: 5 }), 'number')
	t.is(await find({ field: 'data.v', operator: 'equals', value: '5' }), 'text')
	t.is(await find({ field: 'data.v', operator: 'equals', value: true }), 'flag')
	t.is(await find({ field: 'data.v', operator: 'equals', value: [5] }), 'list')
	t.is(await find({ field: 'data.v.a.b', operator: 'equals', value: 5 }), 'deep')
	t.is(await find({ field: 'data.v', operator: 'greaterThan', value: 4 }), 'number')
	t.is(await find({ field: 'data.v', operator: 'greaterThan', value: '4' }), 'text')
})

test('a field is looked up as a path, then as a key with dots', async (t) => {
	const { find } = await open(t, {
		path: { address: { city: 'Bern', since: '2026-06-14' } },
		key: { 'address.city': 'Bern', 'address.since': '2026-06-14' },
		both: { address: { city: 'Basel', since: '2020-01-01' }, 'address.city': 'Bern' },
		isNull: { address: { city: null, since: null }, 'address.since': '2026-06-14' },
		elsewhere: { address: 'Bern', city: 'Bern' },
	})
	const on = (operator: Filter['operator'], value?: unknown) =>
		find({ field: 'data.address.city', operator, value })
	t.is(await on('equals', 'Bern'), 'path key')
	t.is(await on('notEquals', 'Bern'), 'both isNull')
	t.is(await on('contains', 'er'), 'path key')
	t.is(await on('greaterThan', 'Basel'), 'path key')
	t.is(await on('exists'), 'path key both')
	t.is(await on('notExists'), 'isNull elsewhere')
	const since = { field: 'data.address.since', value: 5, unit: 'days' } as const
	t.is(await find({ ...since, operator: 'within' }), 'path key')
	t.is(await find({ ...since, operator: 'olderThan' }), 'both')
})

const only = (filter: Filter): Condition => ({ logic: 'AND', groups: [{ filters: [filter] }] })

/** Contacts by the first part of their address. Compares the names that a filter finds. */
async function open(t: ExecutionContext, people: Record<string, object>) {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	for (const [name, data] of Object.entries(people))
		await pool.query(
			'insert into contacts (project_id, email, subscribed, data) values ($1, $2, true, $3)',
			[project.id, `${name}@example.com`, JSON.stringify(data)],
		)
	const order = Object.keys(people)
	async function find(filter: Filter) {
		const now = new Date('2026-06-15T12:00:00Z')
		const matches = await compileFor(pool, project.id, only(filter), now)
		const { rows } = await pool.query<{ name: string }>(
			numbered(sql`select split_part(email, '@', 1) as name from contacts c
				where project_id = ${uuid.value(project.id)} and ${matches}`),
		)
		return order.filter((person) => rows.some(({ name }) => name === person)).join(' ')
	}
	return { find, pool, projectId: project.id }
}
