import test, { type ExecutionContext } from 'ava'
import type { Pool, PoolClient } from 'pg'
import { markJudged } from '../db/billing/usage-judging.ts'
import {
	attemptReport,
	createReportsOfPage,
	pendingReports,
} from '../db/billing/usage-reporting.ts'
import { transaction } from '../db/transaction.ts'
import { createProject, setup } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { addMember, createUser } from './helpers/people.ts'

// Statements that lock several rows run beside others that lock the same rows.

const first = '00000000-0000-0000-0000-000000000000'
const month = `date_trunc('month', now(), 'UTC')::date`

/** Stops all inserts into a table, until they are released. */
async function stopAt(pool: Pool, table: string) {
	await pool.query(`create function stop_here() returns trigger language plpgsql as $$
		begin perform pg_advisory_xact_lock_shared(42); return new; end $$`)
	await pool.query(
		`create trigger stop_here before insert on ${table} for each row execute function stop_here()`,
	)
	const holder = await pool.connect()
	await holder.query('select pg_advisory_lock(42)')
	return async () => {
		await holder.query('select pg_advisory_unlock(42)')
		holder.release()
	}
}

/** A project whose owner makes the requests. */
async function setupOwned(t: ExecutionContext) {
	const all = await setup(t)
	const { app, orm, pool, project } = all
	const { user, headers } = await createUser(app, orm, 'owner@example.org')
	await addMember(orm, project, user, 'OWNER')
	const url = `/users/@me/projects/${project.id}`
	return {
		...all,
		reset: () => app.inject({ method: 'POST', url: `${url}/reset`, headers }),
		remove: () => app.inject({ method: 'DELETE', url, headers }),
		living: async () =>
			(
				await pool.query<{ id: string }>('select id from projects where public_id = $1', [
					project.id,
				])
			).rows[0]!.id,
	}
}

/** A connection that is closed at the end, even in the middle of a transaction. */
async function connect(t: ExecutionContext, pool: Pool) {
	const db = await pool.connect()
	t.teardown(() => db.release(true))
	return db
}

/** Fails instead of waiting for a row. */
const withoutWaiting = <T>(pool: Pool, work: (db: PoolClient) => Promise<T>) =>
	transaction(pool, work, `set local lock_timeout = '2s'`)

test('recording judged usage does not wait for counting', async (t) => {
	const { orm, pool, project } = await setup(t)
	const other = (await createProject(orm)).project
	await pool.query(
		`insert into usage_counts (project_id, month, category, used, sent)
		select id, ${month}, 'transactional', 5, 5 from unnest($1::uuid[]) as id`,
		[[project.id, other.id]],
	)
	const { rows: seen } = await pool.query(
		'select project_id, month::text, category, used from usage_counts',
	)
	const judge = () => withoutWaiting(pool, (db) => markJudged(db, { judgements: seen }))
	const unjudged = async () =>
		(await pool.query('select project_id as id from usage_counts where used <> judged')).rows
	const counting = await connect(t, pool)
	await counting.query('begin')
	await counting.query('update usage_counts set used = 5 where project_id = $1', [other.id])
	await t.notThrowsAsync(judge())
	t.deepEqual(await unjudged(), [{ id: other.id }])
	await counting.query('commit')
	await judge()
	t.deepEqual(await unjudged(), [])
})

const folded = [
	{
		what: 'usage',
		tallies: `insert into usage_tallies (project_id, month, category, used, sent)
			select $1, ${month}, category, 3, 3 from unnest(array['inbound', 'transactional']) as category`,
		counts: 'usage_counts',
		counted: `insert into usage_counts (project_id, month, category, used, sent)
			values ($1, ${month}, 'inbound', 4, 4)`,
		sum: 'select sum(used)::int as sum from usage_counts where project_id = $1',
	},
	{
		what: 'reputation',
		tallies: `insert into reputation_tallies (project_id, hour, total, bounces, complaints)
			select $1, hour, 3, 0, 0 from unnest(array['2026-01-01T00:00Z', '2026-01-02T00:00Z']::timestamptz[]) as hour`,
		counts: 'reputation_counts',
		counted: `insert into reputation_counts values ($1, '2026-01-01T00:00Z', 4, 0, 0)`,
		sum: 'select sum(total)::int as sum from reputation_counts where project_id = $1',
	},
]

for (const { what, tallies, counts, counted, sum } of folded)
	test(`a reset and the folding of ${what} do not wait for each other`, async (t) => {
		const { pool, project, reset, living } = await setupOwned(t)
		await pool.query(counted, [project.id])
		await pool.query(tallies, [project.id])
		const goOn = await stopAt(pool, counts)
		const folding = pool.query(`select fold_${what}($1)`, [project.id])
		await lockWaits(t, pool, 1)
		const resetting = reset()
		await lockWaits(t, pool, 2)
		await goOn()
		await t.notThrowsAsync(folding)
		t.is((await resetting).statusCode, 200)
		const { rows } = await pool.query(sum, [await living()])
		t.deepEqual(rows, [{ sum: 10 }])
	})

for (const act of ['reset', 'remove'] as const)
	test(`the reporting of usage and a ${act} of its project do not wait for each other`, async (t) => {
		const all = await setupOwned(t)
		const { pool, project, living } = all
		await pool.query(
			`insert into billing_accounts (project_id, customer_id, subscription_id, subscribed)
			values ($1, 'cus_1', 'sub_1', true)`,
			[project.id],
		)
		await pool.query(
			`insert into usage_counts (project_id, month, category, used, sent)
			values ($1, ${month}, 'transactional', 5, 5)`,
			[project.id],
		)
		const goOn = await stopAt(pool, 'usage_reports')
		const noting = createReportsOfPage(pool, first, 10)
		await lockWaits(t, pool, 1)
		const acting = all[act]()
		await lockWaits(t, pool, 2)
		await goOn()
		await t.notThrowsAsync(noting)
		t.true((await acting).statusCode < 300)
		if (act === 'reset') {
			const { rows } = await pool.query('select project_id, value from usage_reports')
			t.deepEqual(rows, [{ project_id: await living(), value: 5 }])
		} else {
			const { rows } = await pool.query(
				`select payload->'unreported' as unreported from outbox where workflow_type = 'endSubscription'`,
			)
			t.deepEqual(rows, [{ unreported: 5 }])
		}
	})

test('reporting usage does not wait for the removal of reports', async (t) => {
	const { pool, project } = await setup(t)
	await pool.query(
		`insert into usage_reports (project_id, month, value, customer_id, at)
		select $1, ${month}, value, 'cus_1', now() from generate_series(1, 2) as value`,
		[project.id],
	)
	const taking = await connect(t, pool)
	await taking.query('begin; delete from usage_reports where value = 1')
	const { rows } = await pool.query<{ id: string; value: number }>(
		'select id, value from usage_reports order by value',
	)
	const [removed, kept] = rows
	const page = await withoutWaiting(pool, (db) => pendingReports(db, { after: first, limit: 10 }))
	t.deepEqual(page, [{ project_id: project.id, id: kept!.id }])
	const attempt = (reportId: string) =>
		withoutWaiting(pool, (db) => attemptReport(db, { projectId: project.id, reportId }))
	t.deepEqual(await attempt(removed!.id), [])
	t.like((await attempt(kept!.id))[0], { value: 2, is_first: true })
})
