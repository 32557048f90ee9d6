import test from 'ava'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { MikroORM } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { client, until } from '../bench/load.ts'
import { newNamespace } from '../bench/namespace.ts'
import { service } from '../bench/stack.ts'
import config from '../db/config.ts'
import { firstMigration, migrate } from '../db/migrating.ts'
import { applyRules } from '../db/rules.ts'
import { poolOf } from '../db/statement.ts'
import { anyPort } from '../local/ports.ts'
import {
	contactCount,
	fillFirstRelease,
	mailsOfStatus,
	password,
	recipientCount,
} from './helpers/first-release.ts'

test('a migration takes nothing away: processes of the release before it go on beside it', async (t) => {
	const folder = new URL('../db/migrations/', import.meta.url)
	const names = (await readdir(folder)).filter((name) => name.endsWith('.ts'))
	t.true(names.length > 0)
	// Its tables, triggers and indexes get new ones of the same names in the same transaction.
	const exempt = 'Migration20261123162000.ts'
	t.true(names.includes(exempt))
	for (const name of names.filter((one) => one !== exempt))
		t.notRegex(
			await readFile(new URL(name, folder), 'utf8'),
			/drop (table|column|function|trigger)|rename (to|column)|set not null|drop default/i,
			name,
		)
})

/** Those whose functions need tables of later migrations. The upgrade makes them again. */
async function dropLaterTriggers(db: PoolClient) {
	const { rows } = await db.query<{ name: string; table: string }>(
		`select tgname as name, tgrelid::regclass::text as table from pg_trigger
		where not tgisinternal and (tgname like '%announce%' or tgname = 'projects_close_webhooks')`,
	)
	for (const { name, table } of rows) await db.query(`drop trigger ${name} on ${table}`)
	await db.query(`create or replace function fold_campaign_tallies(project uuid, campaign uuid) returns void
		language plpgsql as 'begin end'`)
}

test('a database of the first release, with work under way, continues under this release', async (t) => {
	const dbName = `test_${randomUUID()}`
	const orm = await MikroORM.init({ ...config, dbName })
	t.teardown(() => orm.close())
	await orm.schema.ensureDatabase()
	await orm.migrator.up({ to: firstMigration })
	const pool = await poolOf(orm.em)
	const db = await pool.connect()
	try {
		// Today's rules, of which some need columns of later migrations. None of these is used before the upgrade.
		await db.query('set check_function_bodies = off')
		await applyRules(db)
		await dropLaterTriggers(db)
	} finally {
		db.release(true)
	}
	const { secretKey } = await fillFirstRelease(pool)
	const countRows = async (tables: string[]) => {
		const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`)
		return (await pool.query<Record<string, number>>(`select ${counts.join(', ')}`)).rows[0]!
	}
	const { rows } = await pool.query<{ name: string }>(
		`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
			and relname not in ('mikro_orm_migrations', 'worker_beats', 'contact_field_changes')
			and relname not like '%\\_tallies'`,
	)
	const tables = rows.map(({ name }) => name)
	const before = await countRows(tables)
	t.true(
		Object.values(before).every((count) => count > 0),
		JSON.stringify(before),
	)

	await migrate(orm)
	t.deepEqual(await countRows(tables), before)
	t.is(await orm.schema.getUpdateSchemaSQL(), '')

	const databaseUrl = Object.assign(new URL(String(config.clientUrl)), { pathname: dbName }).href
	const port = await anyPort()
	const url = `http://127.0.0.1:${port}`
	const env = {
		DATABASE_URL: databaseUrl,
		TEMPORAL_NAMESPACE: await newNamespace(process.env['TEMPORAL_ADDRESS']!),
		SESSION_SECRET: 'a secret of the tests',
		PORT: String(port),
		EMAIL_PROVIDER: 'local',
	}
	const api = service('api/main.ts', env, async (output) => output().includes('listening'))
	const worker = service('activities/worker.ts', env, async (output) =>
		output().includes('the worker runs'),
	)
	t.teardown(() => Promise.all([api.stop(), worker.stop()]))
	await Promise.all([api.start(), worker.start()])

	// Mail that was under way is delivered; mail that had arrived before is not in the mailbox twice.
	const { PENDING, SENDING, UNCERTAIN, ...settled } = mailsOfStatus
	const statuses = async () => {
		const found = await pool.query<{ status: string; count: number }>(
			`select status, count(*)::int from emails where campaign_id is null group by 1`,
		)
		return Object.fromEntries(found.rows.map(({ status, count }) => [status, count]))
	}
	const isOpen = async () =>
		Object.keys(await statuses()).some((status) => status in { PENDING, SENDING, UNCERTAIN })
	t.true(await until(async () => !(await isOpen()), 60_000))
	const SENT = settled.SENT + PENDING + SENDING + UNCERTAIN
	t.deepEqual(await statuses(), { ...settled, SENT })
	const campaign = async () =>
		(await pool.query<{ status: string }>('select status from campaigns')).rows[0]!.status
	t.true(await until(async () => (await campaign()) === 'SENT', 60_000))
	const execution = async () =>
		(await pool.query<{ status: string }>('select status from executions')).rows[0]!.status
	t.true(await until(async () => (await execution()) === 'EXITED', 60_000))
	t.is((await countRows(['mailbox_messages']))['mailbox_messages'], SENT + recipientCount)

	const http = client(url, secretKey, 1)
	t.teardown(http.close)
	const get = async (path: string) => {
		const answer = await fetch(url + path, { headers: { authorization: `Bearer ${secretKey}` } })
		t.is(answer.status, 200, path)
		return (await answer.json()) as any
	}
	const mails = Object.values(mailsOfStatus).reduce((sum, count) => sum + count, recipientCount)
	t.is((await get('/contacts?limit=5')).total, contactCount)
	t.is((await get('/emails?limit=5')).total, mails)
	const fields = (await get('/contacts/fields')) as { fields: string[] }
	t.true(JSON.stringify(fields).includes('plan'))
	t.is((await get('/events?eventName=signup&limit=100')).events.length, settled.SENT)
	t.is((await get('/templates')).data[0].name, 'Old')

	const login = await fetch(`${url}/auth/login`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', origin: `http://localhost:${port}` },
		body: JSON.stringify({ email: 'owner@example.com', password }),
	})
	t.is(login.status, 200)

	const mail = { from: 'hello@example.com', subject: 'New', body: '<p>New</p>' }
	t.is((await http.post('/v1/send', { ...mail, to: 'person-100@example.org' })).status, 200)
	const draft = await http.post('/campaigns', { ...mail, name: 'New', audienceType: 'ALL' })
	t.is(draft.status, 201, draft.body)
	const { id } = JSON.parse(draft.body).data
	t.is((await http.post(`/campaigns/${id}/send`, {})).status, 200)
	t.true(await until(async () => (await get(`/campaigns/${id}`)).status === 'SENT', 60_000))
	// Unsuppressed contacts get the mail; addresses suppressed then are still suppressed.
	const people = await pool.query(
		`select from contacts c where c.subscribed
			and not exists (select from suppressions where email = c.email)`,
	)
	const progress = await get(`/campaigns/${id}/progress`)
	t.like(progress, { total: people.rowCount, sent: people.rowCount, uncertain: 0, failed: 0 })
	t.true(await until(async () => (await statuses())['SENT'] === SENT + 1, 60_000))
})
