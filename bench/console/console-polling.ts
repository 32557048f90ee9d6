import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { newSecretToken, tokenDigest } from '../../db/accounts/secret-token.ts'
import { poolOf } from '../../db/statement.ts'
import type { Servers } from '../../local/servers.ts'
import { cpuSeconds } from '../cpu.ts'
import { prepareStack } from '../stack.ts'
import type { Row } from '../table.ts'

const consoles = 200
/** `liveMs.normal` of the console. */
const everyMs = 5000
/** What the page of mails asks. */
const path = '/emails?limit=50&bodies=false'
const mails = Number(process.argv[3] ?? 100_000)
const warmMs = 15_000
const measuredMs = 60_000
/** Of one core. */
const mostPercent = 10

/**
 * npm run bench polling [mails]: the CPU that the API needs for 200 open consoles on the page of mails, while nothing changes and
 * while every answer is new. Each has a session of its own, and asks as a browser does: on one connection, with the ETag of the
 * answer before.
 */
export async function bench(servers: Servers): Promise<Row[]> {
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'local',
		RATE_LIMIT_PER_MINUTE: '1000',
	})
	const bare = await bareServer()
	try {
		await stack.api.start()
		const pool = await poolOf(stack.orm.em)
		const cookies = await seed(pool, stack.projectId)
		const ask = (url: string) => openConsoles(url, stack.projectId, cookies)
		const floor = await ask(bare.url).measure(bare.pid)
		const page = ask(stack.apiUrl)
		const idle = await percentOf(stack.api.pid(), () => sleep(warmMs))
		const quiet = await page.measure(stack.api.pid())
		const arriving = setInterval(() => void addMails(pool, stack.projectId, 1), 1000)
		const busy = await page.measure(stack.api.pid()).finally(() => clearInterval(arriving))
		return [
			rowOf('while nothing changes', quiet, floor, idle),
			rowOf('while a mail arrives each second', busy, floor, idle),
		]
	} finally {
		bare.stop()
		await stack.stop()
	}
}

interface Measured {
	percent: number
	answers: number
	unchanged: number
}

function rowOf(
	when: string,
	{ percent, answers, unchanged }: Measured,
	floor: Measured,
	idle: number,
): Row {
	const share = Math.round((100 * unchanged) / answers)
	return {
		what: `CPU of the API for ${consoles} open consoles ${when}`,
		reached: `${percent.toFixed(1)} % of one core (${answers} answers, ${share} % of them 304)`,
		target: `<= ${mostPercent} %`,
		floor: `${floor.percent.toFixed(1)} % (a bare server that says 304; the API alone: ${idle.toFixed(1)} %)`,
		isMet: percent <= mostPercent,
	}
}

function openConsoles(url: string, projectId: string, cookies: string[]) {
	const etags = new Map<string, string>()
	async function poll(cookie: string) {
		const known = etags.get(cookie)
		const response = await fetch(url + path, {
			headers: { cookie, 'x-project-id': projectId, ...(known && { 'if-none-match': known }) },
		})
		await response.arrayBuffer()
		if (response.status !== 200 && response.status !== 304)
			throw new Error(`${path} answered ${response.status}`)
		etags.set(cookie, response.headers.get('etag') ?? known ?? '')
		return response.status
	}
	/** Each begins at its own moment of the interval. */
	async function live(cookie: string, index: number, forMs: number) {
		const statuses: number[] = []
		const startedAt = performance.now() + (index / cookies.length) * everyMs
		for (let at = startedAt; at < startedAt + forMs; at += everyMs) {
			await sleep(Math.max(0, at - performance.now()))
			statuses.push(await poll(cookie))
		}
		return statuses
	}
	const all = async (forMs: number) =>
		(await Promise.all(cookies.map((cookie, index) => live(cookie, index, forMs)))).flat()
	return {
		async measure(pid: number): Promise<Measured> {
			await all(warmMs)
			let statuses: number[] = []
			const percent = await percentOf(pid, async () => (statuses = await all(measuredMs)))
			return {
				percent,
				answers: statuses.length,
				unchanged: statuses.filter((status) => status === 304).length,
			}
		},
	}
}

/** Of one core. */
async function percentOf(pid: number, work: () => Promise<unknown>) {
	const [startedAt, before] = [performance.now(), cpuSeconds(pid)]
	await work()
	const seconds = (performance.now() - startedAt) / 1000
	return (100 * (cpuSeconds(pid) - before)) / seconds
}

/** As little as an answer can cost. */
async function bareServer() {
	const script = `const server = require('node:http').createServer((request, response) => response.writeHead(304).end())
		server.listen(0, '127.0.0.1', () => console.log(server.address().port))`
	const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
	const [port] = (await once(child.stdout, 'data')) as [Buffer]
	return {
		url: `http://127.0.0.1:${port.toString().trim()}`,
		pid: child.pid!,
		stop: () => child.kill(),
	}
}

/** Mails, and people who are logged in to the project. Returns their cookies. */
async function seed(pool: Pool, projectId: string) {
	for (let left = mails; left > 0; left -= 50_000)
		await addMails(pool, projectId, Math.min(left, 50_000))
	// Does at once what autovacuum would do in time.
	await pool.query('vacuum analyze emails')
	const tokens = Array.from({ length: consoles }, () => newSecretToken())
	await pool.query(
		`with people as (
			insert into users (email, email_verified_at)
			select 'person-' || i || '@example.org', now() from generate_series(1, $2::int) i
			returning id
		), numbered as (
			select id, row_number() over () as place from people
		), members as (
			insert into memberships (project_id, user_id, role) select $1, id, 'MEMBER' from people
		)
		insert into sessions (user_id, expires_at, digest)
		select id, now() + interval '1 day', ($3::bytea[])[place] from numbered`,
		[projectId, consoles, tokens.map(tokenDigest)],
	)
	return tokens.map((token) => `session=${token}`)
}

const addMails = (pool: Pool, projectId: string, count: number) =>
	pool.query(
		`insert into emails (project_id, "to", "from", subject, source_type, status, sent_at)
		select $1, 'person-' || i || '@example.org', 'app@example.com', 'Your receipt ' || i, 'TRANSACTIONAL', 'SENT', now()
		from generate_series(1, $2::int) i`,
		[projectId, count],
	)
