import test from 'ava'
import type { Pool } from 'pg'
import { conditionProblems } from '../api/conditions/conditions.ts'
import { compileFor } from '../db/conditions/condition-segments.ts'
import type { Condition } from '../db/conditions/condition.ts'
import { numbered, sql } from '../db/sql.ts'
import { text, uuid } from '../db/sql-types.ts'
import { isoTime } from '../db/iso-time.ts'
import { createProject } from './helpers/app.ts'
import { matches, type Person, timeOf } from './helpers/condition-oracle.ts'
import { populate } from './helpers/condition-people.ts'
import { now, randomTree } from './helpers/condition-random.ts'
import { randomFrom } from './helpers/random.ts'

test('a compiled condition matches the specification for any tree and any data', async (t) => {
	const { pool, projectId, people, segments } = await populate(t, 80)
	const random = randomFrom(7)
	const world = { now, segments }
	let found = 0
	for (let i = 0; i < 2500; i++) {
		const tree = randomTree(random, [...segments.keys()])
		t.deepEqual(conditionProblems(tree, 'condition'), [], JSON.stringify(tree))
		const wanted = people.filter((person) => matches(tree, person, world))
		const actual = await evaluate(pool, projectId, tree)
		if (
			wanted
				.map(({ id }) => id)
				.toSorted()
				.join() !== actual.toSorted().join()
		)
			return t.fail(explain(tree, wanted, actual, people))
		found += wanted.length
	}
	t.true(found > 10_000, `${found} matches: the trees are neither all true nor all false`)
})

test('a condition finds no contacts of another project', async (t) => {
	const { pool, orm } = await populate(t, 5)
	const { project } = await createProject(orm)
	const all: Condition = filter({ field: 'email', operator: 'contains', value: '' })
	t.deepEqual(await evaluate(pool, project.id, all), [])
})

test('a predicate works anywhere in a statement', async (t) => {
	const { pool, projectId, people } = await populate(t, 20)
	const tree = filter({ field: 'event.login', operator: 'triggered' })
	const matches = await compileFor(pool, projectId, tree)
	const { rows } = await pool.query(
		numbered(sql`select count(*)::int as count from contacts c
			where c.email like ${text.value('%')} and ${matches}
				and c.project_id = ${uuid.value(projectId)}`),
	)
	const wanted = people.filter(({ events }) => events.some(({ name }) => name === 'login'))
	t.true(wanted.length > 0)
	t.deepEqual(rows, [{ count: wanted.length }])
})

test('a string of a megabyte is compared like any other', async (t) => {
	const { pool, projectId } = await populate(t, 5)
	const long = `'"\\%_$1`.repeat(150_000)
	await pool.query(
		`insert into contacts (project_id, email, subscribed, data) values ($1, 'long@example.com', true, $2)`,
		[projectId, { long }],
	)
	for (const operator of ['equals', 'contains', 'greaterThanOrEqual'] as const) {
		const is = filter({ field: 'data.long', operator, value: long })
		t.is((await evaluate(pool, projectId, is)).length, 1)
		const differs = filter({ field: 'data.long', operator: 'equals', value: `${long}x` })
		t.is((await evaluate(pool, projectId, differs)).length, 0)
	}
	await t.notThrowsAsync(
		evaluate(pool, projectId, filter({ field: 'email', operator: 'contains', value: long })),
	)
	const deepest = filter({ field: `data.${'a.'.repeat(50_000)}b`, operator: 'exists' })
	t.deepEqual(await evaluate(pool, projectId, deepest), [])
})

test('a condition of the greatest size allowed can be planned', async (t) => {
	const { pool, projectId } = await populate(t, 5)
	const filters = Array.from({ length: 100 }, (_, i) => ({
		field: `event.name${i}`,
		operator: 'triggeredOlderThan' as const,
		value: 1,
		unit: 'days' as const,
	}))
	const groups = filters.map((each) => ({ filters: [each] }))
	for (const logic of ['AND', 'OR'] as const) {
		const tree = { logic, groups }
		t.deepEqual(conditionProblems(tree, 'condition'), [])
		t.deepEqual(await evaluate(pool, projectId, tree), [])
	}
})

test('SQL and TypeScript agree on what is a date', async (t) => {
	const { pool } = await populate(t, 1)
	const parts = [
		'2026-06-15',
		'2026-02-29',
		'2024-02-29',
		'2026-04-31',
		'0000-05-05',
		'1900-02-29',
		'2000-02-29',
	]
	const times = [
		'',
		'T00:00',
		'T23:59:59.999',
		'T23:60',
		'T24:00',
		'T12:00:60',
		't12:00',
		' 12:00',
		'T12:00:00.1234567',
	]
	const zones = ['', 'Z', '+00:00', '-14:59', '+15:00', '+0530', '+05', 'z', ' UTC', '[UTC]', '\n']
	for (const part of parts)
		for (const time of times)
			for (const zone of zones) {
				const text = part + time + zone
				const { rows } = await pool.query<{ ms: number | null }>(
					'select floor(extract(epoch from iso_time($1)) * 1000)::float8 as ms',
					[text],
				)
				t.is(isoTime(text) !== undefined, rows[0]!.ms !== null, text)
				t.is(rows[0]!.ms, timeOf(text) ?? null, text)
			}
})

const filter = (
	only: Condition['groups'][0]['filters'] extends (infer F)[] | undefined ? F : never,
): Condition => ({
	logic: 'AND',
	groups: [{ filters: [only] }],
})

async function evaluate(pool: Pool, projectId: string, tree: Condition) {
	const matches = await compileFor(pool, projectId, tree, new Date(now))
	const { rows } = await pool.query<{ id: string }>(
		numbered(sql`select c.id from contacts c
			where c.project_id = ${uuid.value(projectId)} and ${matches}`),
	)
	return rows.map(({ id }) => id)
}

function explain(tree: Condition, wanted: Person[], actual: string[], people: Person[]) {
	const odd = people.find(({ id }) => actual.includes(id) !== wanted.some((w) => w.id === id))
	return JSON.stringify({ tree, odd, isFound: actual.includes(odd!.id) }, null, 1)
}
