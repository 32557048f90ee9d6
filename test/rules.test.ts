import test from 'ava'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { MikroORM } from '@mikro-orm/postgresql'
import { until } from '../bench/load.ts'
import config from '../db/config.ts'
import { migrate } from '../db/migrating.ts'
import { ruleFiles } from '../db/rules.ts'
import { poolOf } from '../db/statement.ts'
import { createProject } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'

const db = new URL('../db/', import.meta.url)
const textOf = (name: string) => readFile(new URL(name, db), 'utf8')

test('every function and trigger of the database is defined by a file of rules', async (t) => {
	const pool = await poolOf((await setupDatabase(t)).em)
	const { rows } = await pool.query<{ name: string }>(`
		select proname as name from pg_proc p where pronamespace = 'public'::regnamespace
			and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
		union select tgname from pg_trigger where not tgisinternal
		union select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')`)
	const text = (await Promise.all(ruleFiles.map(textOf))).join('\n')
	const defined = Array.from(
		text.matchAll(/^create or replace (?:function|trigger|aggregate|view) (\w+)/gm),
		([, name]) => name,
	)
	const inOrder = (names: string[]) => names.toSorted((a, b) => (a < b ? -1 : 1))
	t.deepEqual(inOrder(rows.map(({ name }) => name)), inOrder(defined as string[]))
})

test('every file of rules is applied', async (t) => {
	const found = (await readdir(db, { recursive: true })).filter(
		(name) => name.endsWith('.sql') && !name.startsWith('migrations/'),
	)
	t.deepEqual(found.toSorted(), ruleFiles.toSorted())
})

test('a file of rules is applied again when its text has changed, and no other file', async (t) => {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	await pool.query(`update rule_files set applied_at = '2026-01-01'`)
	await pool.query(`update rule_files set digest = 'before' where name = 'iso-time.sql'`)
	await pool.query(
		`create or replace function iso_text(t timestamptz) returns text return 'before'`,
	)
	await migrate(orm)
	const { rows } = await pool.query(
		`select name, iso_text('2026-02-03') as text from rule_files where applied_at > '2026-01-01'`,
	)
	t.deepEqual(rows, [{ name: 'iso-time.sql', text: '2026-02-03T00:00:00.000Z' }])
})

test('rules are applied while others write, after the transactions that hold their tables', async (t) => {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	const write = (email: string, to: { query: typeof pool.query } = pool) =>
		to.query('insert into contacts (project_id, email, subscribed) values ($1, $2, true)', [
			project.id,
			email,
		])
	const holder = await pool.connect()
	await holder.query('begin')
	await write('held@example.org', holder)
	await pool.query(`update rule_files set digest = 'before'`)
	const migrated = migrate(orm)
	const isWaiting = async () =>
		(await pool.query(`select from pg_locks where not granted and relation = 'contacts'::regclass`))
			.rowCount === 1
	t.true(await until(isWaiting, 20_000))
	// Writers queue behind us for no longer than our time-out.
	await write('other@example.org')
	const { rows } = await pool.query(`select from rule_files where digest <> 'before'`)
	t.is(rows.length, 0, 'nothing is applied before everything is')
	await holder.query('commit')
	holder.release()
	await migrated
	t.is((await pool.query(`select from rule_files where digest = 'before'`)).rowCount, 0)
})

test('a database that is older than the first release is refused', async (t) => {
	const dbName = `test_${randomUUID()}`
	const orm = await MikroORM.init({ ...config, dbName })
	t.teardown(() => orm.close(true))
	await orm.schema.ensureDatabase()
	await orm.migrator.getExecuted()
	const pool = await poolOf(orm.em)
	await pool.query(`insert into mikro_orm_migrations (name) values ('Migration20261121043000')`)
	await t.throwsAsync(migrate(orm), { message: /made before the first release/ })
})
