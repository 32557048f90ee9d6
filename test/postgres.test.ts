import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { stopPostgres } from '../local/cluster.ts'
import { requireSpace } from '../local/postgres-home.ts'
import { preparePostgres, type Postgres } from '../local/postgres.ts'
import { end, isAlive } from '../local/processes.ts'
import { makeScratch } from '../local/scratch.ts'

function scratch(t: ExecutionContext) {
	const folder = makeScratch()
	t.teardown(() => rmSync(folder, { recursive: true, force: true }))
	return folder
}

const durable = (folder: string, password = 'secret') =>
	preparePostgres({ folder: join(folder, 'postgres'), password, isDurable: true })

async function launch(t: ExecutionContext, postgres: Postgres) {
	const child = postgres.launch()
	t.teardown(() => end(child.pid!, stopPostgres))
	await postgres.ready(child)
	return child.pid!
}

async function query(url: string, sql: string) {
	const client = new pg.Client({ connectionString: url })
	await client.connect()
	try {
		return (await client.query(sql)).rows
	} finally {
		await client.end()
	}
}

test('a postmaster left behind by a kill is ended and its data kept', async (t) => {
	const folder = scratch(t)
	const first = await durable(folder)
	const pid = await launch(t, first)
	await query(first.url, 'create table kept as select 42 as answer')
	const second = await durable(folder)
	t.false(isAlive(pid))
	await launch(t, second)
	t.deepEqual(await query(second.url, 'select answer from kept'), [{ answer: 42 }])
})

test('a postmaster killed with -9 needs no help at the next start', async (t) => {
	const folder = scratch(t)
	const first = await durable(folder)
	process.kill(await launch(t, first), 'SIGKILL')
	const second = await durable(folder)
	await launch(t, second)
	t.deepEqual(await query(second.url, 'select 1 as one'), [{ one: 1 }])
})

test('the log of Postgres contains no personal data, whatever a statement violates', async (t) => {
	const folder = scratch(t)
	const postgres = await durable(folder)
	await launch(t, postgres)
	await query(postgres.url, 'create table people (email text unique)')
	const twice = `insert into people values ('ann@example.org'), ('ann@example.org')`
	await t.throwsAsync(query(postgres.url, twice), { code: '23505' })
	const log = () => readFileSync(join(folder, 'postgres.log'), 'utf8')
	t.regex(log(), /duplicate key value violates unique constraint "people_email_key"/)
	t.notRegex(log(), /ann@example/)
})

test('a lost password is renewed', async (t) => {
	const folder = scratch(t)
	await durable(folder, 'lost')
	const again = await preparePostgres({
		folder: join(folder, 'postgres'),
		password: 'new',
		isPasswordNew: true,
		isDurable: true,
	})
	await launch(t, again)
	t.deepEqual(await query(again.url, 'select 1 as one'), [{ one: 1 }])
})

test('data of another version is not touched, and the message says which', async (t) => {
	const folder = scratch(t)
	await durable(folder)
	writeFileSync(join(folder, 'postgres', 'PG_VERSION'), '15\n')
	await t.throwsAsync(durable(folder), { message: /written by Postgres 15; this is Postgres 18/ })
})

test('a data folder that others may enter is refused with words', async (t) => {
	const folder = scratch(t)
	await durable(folder)
	chmodSync(join(folder, 'postgres'), 0o755)
	await t.throwsAsync(durable(folder), { message: /Postgres refuses .*chmod 700/ })
})

test('too little disk is noticed before anything is written', (t) => {
	t.throws(() => requireSpace('/', 1e12), { message: /Not enough disk: \/ has \d+ MB free/ })
})
