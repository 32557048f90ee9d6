import test, { type ExecutionContext } from 'ava'
import { randomUUID } from 'node:crypto'
import { MikroORM } from '@mikro-orm/postgresql'
import { until } from '../bench/load.ts'
import config from '../db/config.ts'
import { migrate } from '../db/migrating.ts'
import { poolOf } from '../db/statement.ts'
import { createProject } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'
import { lockWaits } from './helpers/locks.ts'
import { partitionsOf, splitIntoMonths } from './helpers/months.ts'

/** A database of this release, and a second process that builds an index on its contacts. */
async function setupBuild(t: ExecutionContext) {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	const path = `${import.meta.dirname}/migrations`
	const next = await MikroORM.init({
		...config,
		dbName: orm.config.get('dbName')!,
		migrations: { ...config.migrations, path },
	})
	t.teardown(() => next.close(true))
	const write = (email: string, db: { query: typeof pool.query } = pool) =>
		db.query('insert into contacts (project_id, email, subscribed) values ($1, $2, true)', [
			project.id,
			email,
		])
	const isValid = async () => {
		const { rows } = await pool.query<{ isValid: boolean }>(
			`select indisvalid as "isValid" from pg_index
			where indexrelid = to_regclass('contacts_for_tests')`,
		)
		return rows[0]?.isValid
	}
	return { pool, next, write, isValid }
}

test('while an index is built, and waits for a writer that holds on, others write', async (t) => {
	const { pool, next, write, isValid } = await setupBuild(t)
	const holder = await pool.connect()
	await holder.query('begin')
	await write('held@example.org', holder)
	const migrated = migrate(next)
	t.true(await until(async () => (await isValid()) === false, 20_000), 'it is under way')
	await write('other@example.org')
	t.false(await isValid(), 'it still is')
	await holder.query('commit')
	holder.release()
	await migrated
	t.true(await isValid())
	t.deepEqual(await next.migrator.getPending(), [])
})

test('an index whose build failed is built again', async (t) => {
	const { pool, next, write, isValid } = await setupBuild(t)
	const holder = await pool.connect()
	await holder.query('begin')
	await write('held@example.org', holder)
	const failed = t.throwsAsync(migrate(next), { message: /canceling statement/ })
	t.true(await until(async () => (await isValid()) === false, 20_000))
	await pool.query(
		`select pg_cancel_backend(pid) from pg_stat_activity
		where datname = current_database() and query like 'create index concurrently%'`,
	)
	await failed
	await holder.query('commit')
	holder.release()
	t.false(await isValid())
	await migrate(next)
	t.true(await isValid())
})

test('an index on a table in partitions is built in each of them, and in those to come', async (t) => {
	const { pool, next } = await setupBuild(t)
	await migrate(next)
	const indexes = async () =>
		(
			await pool.query<{ table: string; isValid: boolean }>(
				`select c.relname as table, i.indisvalid as "isValid" from pg_index i join pg_class c on c.oid = i.indrelid
				where i.indexrelid = 'events_for_tests'::regclass
					or i.indexrelid in (select inhrelid from pg_inherits where inhparent = 'events_for_tests'::regclass)`,
			)
		).rows
	const tables = async () => ['events', ...(await partitionsOf(pool, 'events'))]
	const expected = async () => (await tables()).map((table) => ({ table, isValid: true }))
	const byTable = (a: { table: string }, b: { table: string }) => a.table.localeCompare(b.table)
	t.deepEqual((await indexes()).toSorted(byTable), (await expected()).toSorted(byTable))
	await splitIntoMonths(pool)
	t.deepEqual((await indexes()).toSorted(byTable), (await expected()).toSorted(byTable))
})

test('while a migration waits for a reader that holds on, others read and write', async (t) => {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	await pool.query(`alter table contacts drop column refused_at;
		delete from mikro_orm_migrations where name = 'Migration20261127030000'`)
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin; select from contacts')
	const migrated = migrate(orm)
	for (let turn = 0; turn < 2; turn++) {
		await lockWaits(t, pool, 1)
		await t.notThrowsAsync(
			pool.query(
				`begin; set local lock_timeout = 5000; update contacts set email = 'a@b.c'; rollback`,
			),
		)
	}
	await holder.query('commit')
	await migrated
	await t.notThrowsAsync(pool.query('select refused_at from contacts'))
})

test('of processes that migrate at once, one works and the others wait', async (t) => {
	const dbName = `test_${randomUUID()}`
	const orms = await Promise.all([1, 2, 3].map(() => MikroORM.init({ ...config, dbName })))
	t.teardown(async () => {
		await Promise.all(orms.slice(1).map((orm) => orm.close(true)))
		await orms[0]!.schema.dropDatabase(dbName)
		await orms[0]!.close(true)
	})
	await Promise.all(orms.map(migrate))
	const executed = await orms[0]!.migrator.getExecuted()
	t.is(new Set(executed.map(({ name }) => name)).size, executed.length)
	t.deepEqual(await orms[1]!.migrator.getPending(), [])
})
