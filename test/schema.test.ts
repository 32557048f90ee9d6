import { MikroORM } from '@mikro-orm/postgresql'
import test from 'ava'
import { randomUUID } from 'node:crypto'
import config from '../db/config.ts'
import { setupDatabase } from './helpers/database.ts'

test('the entities match the migrations', async (t) => {
	const orm = await setupDatabase(t)
	t.is(await orm.schema.getUpdateSchemaSQL(), '')
})

test('a database made from the entities is the one that the migrations make', async (t) => {
	const migrated = await setupDatabase(t)
	const dbName = `test_${randomUUID()}`
	const made = await MikroORM.init({ ...config, dbName, pool: { min: 0, max: 2 } })
	t.teardown(async () => {
		await made.schema.dropDatabase(dbName)
		await made.close()
	})
	await made.schema.ensureDatabase()
	await made.em.fork().execute('create extension pg_trgm')
	await made.schema.create()
	t.deepEqual(await catalogOf(made), await catalogOf(migrated))
})

test('every table except those of people, processes and the audit log is deleted with its project', async (t) => {
	const orm = await setupDatabase(t)
	const rows: { table: string }[] = await orm.em.fork().execute(`
		select c.relname as "table" from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relname not in ('projects', 'rule_files', 'worker_beats', 'mikro_orm_migrations', 'users', 'sessions',
				'account_tokens', 'oauth_identities', 'throttles', 'audit_entries', 'provider_events', 'provider_states')
			and not exists (
				select from pg_constraint f
				join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
				where f.conrelid = c.oid and f.contype = 'f' and f.confrelid = 'projects'::regclass
					and a.attname = 'project_id' and a.attnotnull and f.confdeltype = 'c')`)
	t.deepEqual(rows, [])
})

test('no row can refer to another project', async (t) => {
	const orm = await setupDatabase(t)
	const em = orm.em.fork()
	const count = `select count(*)::int as count from pg_constraint f where f.contype = 'f'
		and f.confrelid not in ('projects'::regclass, 'users'::regclass)`
	const [all]: { count: number }[] = await em.execute(count)
	t.true(all!.count > 0)
	const loose: { name: string }[] = await em.execute(`
		select f.conname as name from pg_constraint f
		where f.contype = 'f' and f.confrelid not in ('projects'::regclass, 'users'::regclass)
			and not exists (
				select from unnest(f.conkey, f.confkey) as pair(ours, theirs)
				join pg_attribute a on a.attrelid = f.conrelid and a.attnum = pair.ours
				join pg_attribute b on b.attrelid = f.confrelid and b.attnum = pair.theirs
				where a.attname = 'project_id' and b.attname = 'project_id')`)
	t.deepEqual(loose, [])
})

/** Tables, columns, constraints and indexes, as Postgres describes them. */
async function catalogOf(orm: MikroORM) {
	const rows: { thing: string; description: string }[] = await orm.em.fork().execute(`
		with tables as (
			select oid, relname, reloptions from pg_class
			where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
				and relname <> 'mikro_orm_migrations'
		)
		select relname as thing, array_to_string(reloptions, ', ') as description from tables
		union all select t.relname || '.' || a.attname,
			concat_ws(' ', a.attstorage, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
				array_to_string(a.attoptions, ', '),
				nullif(a.attgenerated, ''), nullif(a.attidentity, ''), pg_get_expr(d.adbin, d.adrelid))
		from tables t
		join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
		left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
		union all select t.relname || ': ' || c.conname, pg_get_constraintdef(c.oid)
		from tables t join pg_constraint c on c.conrelid = t.oid
		union all select t.relname || ' has ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
		from tables t join pg_index i on i.indrelid = t.oid
		order by thing`)
	return Object.fromEntries(rows.map(({ thing, description }) => [thing, description]))
}
