import test from 'ava'
import type { ExecutionContext } from 'ava'
import {
	countContacts,
	countFields,
	foldFields,
	listFieldValues,
	recountField,
} from '../db/contacts/contact-fields.ts'
import { setupJobs } from './helpers/jobs.ts'

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
