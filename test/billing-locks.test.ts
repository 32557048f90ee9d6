import test, { type ExecutionContext } from 'ava'
import type { Pool, PoolClient } from 'pg'
import { markJudged } from '../db/billing/usage-judging.ts'
import { transaction } from '../db/transaction.ts'
import { createProject, setup } from './helpers/app.ts'

// What locks several rows at once does so beside others that lock the same ones.

const month = `date_trunc('month', now(), 'UTC')::date`

/** A connection that is hung up on in the end, whatever it has begun. */
async function connect(t: ExecutionContext, pool: Pool) {
	const db = await pool.connect()
	t.teardown(() => db.release(true))
	return db
}

/** Fails where it would wait for a row. */
const withoutWaiting = <T>(pool: Pool, work: (db: PoolClient) => Promise<T>) =>
	transaction(pool, work, `set local lock_timeout = '2s'`)

test('whoever notes what was judged waits for nobody who counts', async (t) => {
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
	const judge = () => withoutWaiting(pool, (db) => markJudged(db, [JSON.stringify(seen)]))
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
