import test from 'ava'
import type { ExecutionContext } from 'ava'
import type { Pool, PoolClient } from 'pg'
import {
	countContacts,
	countFields,
	foldFields,
	listFieldValues,
	recountField,
} from '../db/contacts/contact-fields.ts'
import { transaction } from '../db/transaction.ts'
import { createProject } from './helpers/app.ts'
import { setupJobs } from './helpers/jobs.ts'

/** The rows of a table that a transaction reads. */
async function readsOf(pool: Pool, table: string, work: (db: PoolClient) => Promise<unknown>) {
	const db = await pool.connect()
	await db.query('begin')
	await work(db)
	const { rows } = await db.query<{ reads: number }>(
		`select (seq_tup_read + idx_tup_fetch)::int as reads from pg_stat_xact_user_tables where relname = $1`,
		[table],
	)
	await db.query('commit')
	db.release()
	return rows[0]!.reads
}

async function setup(t: ExecutionContext) {
	const jobs = await setupJobs(t)
	const { pool, project } = jobs
	const id = project.id
	const query = async <Row>(text: string, values: unknown[] = [id]) =>
		(await pool.query(text, values)).rows as Row[]

	/** Compares the stored counts with a full read of the contacts. */
	async function holdsTrue(fields: string[]) {
		const counts = await countFields(pool, { projectId: id })
		t.deepEqual(
			counts.filter(({ key }) => key !== '').map(({ key, type, count }) => [key, type, count]),
			(
				await query<{ row: unknown[] }>(
					`select json_build_array(key, contact_field_type(value), count(*)) as row
					from contacts, jsonb_each(data) where project_id = $1
					group by key, contact_field_type(value)
					order by key, count(*) desc, contact_field_type(value)`,
				)
			).map(({ row }) => row),
		)
		const flags = await countContacts(pool, { projectId: id })
		t.deepEqual(
			Object.fromEntries(flags.filter(({ count }) => count).map((f) => [f.subscribed, f.count])),
			Object.fromEntries(
				(
					await query<{ subscribed: boolean; count: number }>(
						'select subscribed, count(*)::int from contacts where project_id = $1 group by 1',
					)
				).map((f) => [f.subscribed, f.count]),
			),
		)
		for (const field of fields) {
			let [kept] = await listFieldValues(pool, { projectId: id, field, limit: 200 })
			if (!kept!.isComplete) {
				await recountField(pool, { projectId: id, field })
				kept = (await listFieldValues(pool, { projectId: id, field, limit: 200 }))[0]
				t.true(kept!.isComplete)
			}
			const [found] = await query<{ values: unknown[] }>(
				`select coalesce(jsonb_agg(value order by value), '[]') as values from (
					select distinct data -> $2 as value from contacts
					where project_id = $1 and jsonb_typeof(data -> $2) in ('string', 'number', 'boolean')
					order by 1 limit 200) v`,
				[id, field],
			)
			t.deepEqual(kept!.values, found!.values, field)
		}
	}
	/** Contacts with different values of `unique` and few of `plan`, for a range of numbers. */
	const insert = (from: number, to: number) =>
		query(
			`insert into contacts (project_id, email, subscribed, data)
			select $1, 'p' || i || '@example.com', i % 3 > 0, jsonb_build_object(
				'unique', case when i % 5 = 0 then to_jsonb(i) else to_jsonb('u' || lpad((i * 7919 % 100000)::text, 5, '0')) end,
				'plan', (array['pro', 'free'])[1 + i % 2])
			from generate_series($2::int, $3::int) i`,
			[id, from, to],
		)
	return { ...jobs, id, query, holdsTrue, insert }
}

test('writing a contact reads the counts of its own fields only, whatever others a project or its neighbours have', async (t) => {
	const { orm, pool, project, query } = await setup(t)
	await createProject(orm)
	const contact = (data: object) =>
		query(
			'insert into contacts (project_id, subscribed, email, data) values ($1, true, gen_random_uuid() || $2, $3)',
			[project.id, '@example.org', JSON.stringify(data)],
		)
	// Connections whose plans are made while the table is small.
	await Promise.all(Array.from({ length: 3 }, (_, i) => contact({ plan: i })))
	await query(
		`with fields as (
			insert into contact_fields (project_id, key, type, count)
			select id, 'field ' || n, 'string', 1 from projects, generate_series(1, 20000) n
		)
		insert into contact_field_values (project_id, key, type, value, count)
		select $1, 'field ' || n, 'string', to_jsonb(n::text), 1 from generate_series(1, 20000) n`,
	)
	await query('analyze contact_fields', [])
	const few = [
		`insert into contacts (project_id, subscribed, email, data)
			select $1, true, gen_random_uuid() || '@example.org', '{"plan": "a", "seats": 3}'`,
		`update contacts set data = data || '{"plan": "b"}' where project_id = $1`,
		`delete from contacts where project_id = $1`,
		`insert into contacts (project_id, subscribed, email, data)
			select $1, true, gen_random_uuid() || '@example.org', '{"plan": "c"}' from generate_series(1, 100)`,
	]
	await transaction(pool, async (lock) => {
		// Prevents folding, which these statements do now and then.
		await lock.query(
			`select pg_advisory_xact_lock(hashtextextended('contact fields of ' || $1, 0))`,
			[project.id],
		)
		for (const sql of few) {
			const reads = await readsOf(pool, 'contact_fields', (db) => db.query(sql, [project.id]))
			t.true(reads <= 30, `${reads}: ${sql}`)
		}
	})
	for (const table of ['contact_fields', 'contact_field_values']) {
		await contact({ plan: 'd' })
		const fold = (db: PoolClient) => foldFields(db, { projectId: project.id })
		const reads = await readsOf(pool, table, fold)
		t.true(reads <= 60, `${reads} of ${table}`)
	}
})

test('counts of fields that take too long end with 503', async (t) => {
	const { app, pool, withSecretKey } = await setup(t)
	const holder = await pool.connect()
	await holder.query('begin; lock table contact_fields in access exclusive mode')
	const answer = await app.inject({ url: '/contacts/fields', headers: withSecretKey })
	t.is(answer.statusCode, 503, answer.body)
	await holder.query('commit')
	holder.release()
})

test('the counts are right after inserts, updates and deletes of many, folded or not', async (t) => {
	const { pool, id, query, holdsTrue, insert } = await setup(t)
	await insert(1, 1500)
	await holdsTrue(['unique', 'plan'])
	await foldFields(pool, { projectId: id })
	await holdsTrue(['unique', 'plan'])
	await insert(1501, 3000)
	await query(`update contacts set data = data - 'plan' || '{"new": "2026-01-01"}', subscribed = not subscribed
		where project_id = $1 and email like '%7@example.com'`)
	await holdsTrue(['unique', 'plan', 'new'])
	await query(`delete from contacts where project_id = $1 and email like '%8@example.com'`)
	await foldFields(pool, { projectId: id })
	await holdsTrue(['unique', 'plan', 'new'])
})

test('the counts are right after imports that change, add and leave fields', async (t) => {
	const { import: importFile, undo, query, holdsTrue, insert } = await setup(t)
	await insert(1, 1500)
	const row = (i: number) =>
		`p${i}@example.com,${i % 2 ? 'pro' : 'team'},Town ${i % 9},${i % 4 ? '' : 'yes'}`
	const rows = Array.from({ length: 3000 }, (_, i) => row(i + 1))
	const job = await importFile(['email,plan,town,subscribed', ...rows].join('\n'))
	t.is(job.state, 'completed')
	await holdsTrue(['unique', 'plan', 'town'])
	await query(`update contacts set data = data - 'town' || '{"x": 1}' where project_id = $1`)
	await holdsTrue(['unique', 'plan', 'town', 'x'])
	t.is((await undo(job.id)).state, 'completed')
	await holdsTrue(['unique', 'plan', 'town', 'x'])
})

test('after the smallest values are deleted the next ones are found', async (t) => {
	const { pool, id, query, holdsTrue, insert } = await setup(t)
	await insert(1, 3000)
	await foldFields(pool, { projectId: id })
	for (let round = 0; round < 3; round++) {
		await query(`delete from contacts where project_id = $1 and data->>'unique' in (
			select data->>'unique' from contacts where project_id = $1 order by 1 limit 350)`)
		await holdsTrue(['unique'])
		await insert(3001 + round * 10, 3010 + round * 10)
		await holdsTrue(['unique'])
	}
})

test('an incomplete count is still known after it was folded into a complete one', async (t) => {
	const { pool, id, query, holdsTrue, insert } = await setup(t)
	await insert(1, 10)
	await foldFields(pool, { projectId: id })
	await insert(11, 3000)
	await foldFields(pool, { projectId: id })
	await query(`delete from contacts where project_id = $1 and data->>'unique' in (
		select data->>'unique' from contacts where project_id = $1
			and jsonb_typeof(data->'unique') = 'string' order by 1 limit 390)`)
	await holdsTrue(['unique'])
})

test('many at once, folding and recounting while they write, lose no count', async (t) => {
	const { pool, id, query, holdsTrue, insert } = await setup(t)
	await insert(1, 1000)
	const writers = Array.from({ length: 4 }, async (_, writer) => {
		for (let i = 0; i < 25; i++) {
			const from = 2000 + (writer * 25 + i) * 40
			await insert(from, from + (i % 2 ? 39 : 3))
			await query(
				`update contacts set data = data || jsonb_build_object('unique', 'a' || $3::int, 'n', $3::int)
				where project_id = $1 and email = any(array(
					select 'p' || n || '@example.com' from generate_series($2::int, $2::int + $4::int) n))`,
				[id, from, i, i % 3 ? 0 : 30],
			)
			if (i % 5 === 0)
				await query('delete from contacts where project_id = $1 and email = $2', [
					id,
					`p${from + 1}@example.com`,
				])
		}
	})
	const keepers = Array.from({ length: 2 }, async (_, keeper) => {
		for (let i = 0; i < 15; i++)
			await (keeper
				? recountField(pool, { projectId: id, field: 'unique' })
				: foldFields(pool, { projectId: id }))
	})
	await Promise.all([...writers, ...keepers])
	await holdsTrue(['unique', 'plan', 'n'])
	await foldFields(pool, { projectId: id })
	await holdsTrue(['unique', 'plan', 'n'])
})

test('rolled-back changes are not counted, and counts are deleted with their project', async (t) => {
	const { pool, id, query, holdsTrue, insert } = await setup(t)
	await insert(1, 30)
	const db = await pool.connect()
	await db.query('begin')
	await db.query(`update contacts set data = '{"other": 1}' where project_id = $1`, [id])
	await holdsTrue(['unique', 'other'])
	await db.query('rollback')
	db.release()
	await holdsTrue(['unique', 'other'])
	await query('delete from projects where id = $1')
	for (const table of ['contact_fields', 'contact_field_values', 'contact_field_changes'])
		t.deepEqual(await query(`select * from ${table}`, []), [])
})
