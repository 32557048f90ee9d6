import test, { type ExecutionContext } from 'ava'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeArguments } from '../build/processes.ts'
import config from '../db/config.ts'
import { poolOf } from '../db/statement.ts'
import { createProject } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'

/** The API as npm start runs it: a process of its own, with a channel to its parent. */
async function startProcess(t: ExecutionContext, changes: NodeJS.ProcessEnv = {}) {
	const orm = await setupDatabase(t)
	const url = new URL(String(config.clientUrl))
	url.pathname = orm.config.get('dbName')!
	const program = nodeArguments('api/main.ts')
	const child = fork(program.at(-1)!, {
		execArgv: program.slice(0, -1),
		silent: true,
		env: {
			...process.env,
			DATABASE_URL: url.href,
			SESSION_SECRET: 'a secret of the tests',
			PORT: '0',
			...changes,
		},
	})
	t.teardown(() => child.kill('SIGKILL'))
	const lines: string[] = []
	child.stdout!.setEncoding('utf8').on('data', (text: string) => {
		lines.push(...text.trim().split('\n'))
	})
	return { child, lines, orm }
}

async function addressOf(lines: string[]) {
	for (;;) {
		const address = lines.join('\n').match(/http:\/\/127\.0\.0\.1:\d+/)?.[0]
		if (address) return address
		await sleep(20)
	}
}

const exitCode = async (child: ChildProcess) => (await once(child, 'exit'))[0] as number

test('SIGTERM ends the API with 0, even while connections stay open', async (t) => {
	t.timeout(180_000)
	const { child, lines, orm } = await startProcess(t)
	const { withSecretKey } = await createProject(orm)
	const address = await addressOf(lines)
	t.is((await fetch(`${address}/emails`, { headers: withSecretKey })).status, 200)
	child.kill('SIGTERM')
	t.is(await exitCode(child), 0)
	const requests = lines.filter((line) => line.includes('"route":"/emails"'))
	t.is(requests.length, 1)
})

test('a request that waits for a lock gives its connection up within seconds', async (t) => {
	t.timeout(180_000)
	const { lines, orm } = await startProcess(t)
	const { project, withSecretKey } = await createProject(orm)
	const address = await addressOf(lines)
	const pool = await poolOf(orm.em)
	const { rows } = await pool.query<{ id: string }>(
		`insert into contacts (project_id, email, subscribed) values ($1, 'a@example.org', true) returning id`,
		[project.id],
	)
	const db = await pool.connect()
	t.teardown(() => db.release(true))
	await db.query('begin; select from contacts for update')
	const startedAt = performance.now()
	// More than it has connections.
	const answers = await Promise.all(
		Array.from({ length: 25 }, () =>
			fetch(`${address}/contacts/${rows[0]!.id}`, {
				method: 'PATCH',
				headers: { ...withSecretKey, 'content-type': 'application/json' },
				body: '{"subscribed": false}',
			}),
		),
	)
	t.true(performance.now() - startedAt < 15_000)
	for (const { status, headers } of answers) {
		t.is(status, 503)
		t.truthy(headers.get('retry-after'))
	}
	await db.query('rollback')
	const late = await fetch(`${address}/contacts`, { headers: withSecretKey })
	t.is(late.status, 200)
})

test('an API ends when its parent dies', async (t) => {
	t.timeout(180_000)
	const { child, lines } = await startProcess(t)
	await addressOf(lines)
	child.disconnect()
	t.is(await exitCode(child), 0)
})

test('a port in use is reported in one clear line, with exit code 1', async (t) => {
	t.timeout(180_000)
	const server = createServer().listen(0, '127.0.0.1')
	t.teardown(() => server.close())
	await once(server, 'listening')
	const { port } = server.address() as { port: number }
	const { child, lines } = await startProcess(t, { PORT: String(port) })
	t.is(await exitCode(child), 1)
	t.regex(lines.at(-1)!, /cannot listen.*EADDRINUSE.*Choose another HOST or PORT/)
})

test('settings that are wrong are named before anything is started', async (t) => {
	t.timeout(180_000)
	const { child, lines } = await startProcess(t, { RATE_LIMIT_PER_MINUTE: 'many' })
	t.is(await exitCode(child), 1)
	t.is(lines.length, 1)
	t.regex(lines[0]!, /RATE_LIMIT_PER_MINUTE/)
})
