import test from 'ava'
import { setupDatabase } from './helpers/database.ts'

test('the entities are what the migrations make', async (t) => {
	const orm = await setupDatabase(t)
	t.is(await orm.schema.getUpdateSchemaSQL(), '')
})

test('every table but those of people, processes and the audit belongs to a project and goes with it', async (t) => {
	const orm = await setupDatabase(t)
	const rows: { table: string }[] = await orm.em.fork().execute(`
		select c.relname as "table" from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relname not in ('projects', 'worker_beats', 'mikro_orm_migrations', 'users', 'sessions',
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
