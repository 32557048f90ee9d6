import test from 'ava'
import type { FastifyInstance } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import { leaseRate } from '../db/budget.ts'
import { Project } from '../db/projects/project.ts'
import { createProject, setup, startApp } from './helpers/app.ts'
import { beginNextMinute } from './helpers/minutes.ts'
import { addMember, createUser } from './helpers/people.ts'

const crowd = 25

async function setupLimited(t: Parameters<typeof setup>[0], limit: number) {
	const settings = { rateLimitPerMinute: limit }
	const all = await setup(t, { settings })
	await beginNextMinute(all.pool, all.project.id)
	const ask = (app: FastifyInstance, headers: Record<string, string> = all.withSecretKey) =>
		app.inject({ url: '/emails/none', headers })
	/** How many of these requests pass, `crowd` at a time; a slow process leases as many. */
	const passed = async (app: FastifyInstance, count: number) => {
		let through = 0
		for (let left = count; left > 0; left -= crowd) {
			const asked = Array.from({ length: Math.min(crowd, left) }, () => ask(app))
			for (const { statusCode } of await Promise.all(asked)) if (statusCode === 404) through++
		}
		return through
	}
	const leased = async () =>
		Number(
			(
				await all.pool.query('select leased from request_budgets where project_id = $1', [
					all.project.id,
				])
			).rows[0]?.leased ?? 0,
		)
	return { ...all, settings, ask, passed, leased }
}

async function until(condition: () => Promise<boolean>) {
	while (!(await condition())) await sleep(20)
}

test('exactly as many requests pass in a minute as the limit says', async (t) => {
	const { app, passed } = await setupLimited(t, 150)
	t.is(await passed(app, 70), 70)
	t.is(await passed(app, 200), 80)
	t.is(await passed(app, 20), 0)
})

test('each of several successive answers contains the remaining budget', async (t) => {
	const { app, ask } = await setupLimited(t, 5)
	for (const remaining of ['4', '3', '2', '1', '0']) {
		const { headers } = await ask(app)
		t.is(headers['ratelimit-limit'], '5')
		t.is(headers['ratelimit-remaining'], remaining)
		t.true(Number(headers['ratelimit-reset']) <= 120 && Number(headers['ratelimit-reset']) > 0)
	}
	const refused = await ask(app)
	t.is(refused.statusCode, 429)
	t.is(refused.headers['ratelimit-remaining'], '0')
	const { error } = refused.json()
	t.is(error.code, 'RATE_LIMIT_EXCEEDED')
	t.is(String(error.details.retryAfter), String(refused.headers['retry-after']))
	t.is(String(refused.headers['ratelimit-reset']), String(refused.headers['retry-after']))
})

test('two processes share one budget: never more than the limit, and none of it is lost', async (t) => {
	const { app, orm, settings, passed, leased } = await setupLimited(t, 100)
	const { app: other } = await startApp(t, orm, { settings })
	const counts = await Promise.all([passed(app, 30), passed(other, 90), passed(app, 40)])
	let total = counts.reduce((sum, count) => sum + count, 0)
	t.true(total <= 100)
	// A process soon returns what it leased and didn't use; then the rest passes too.
	await until(async () => (await leased()) === total)
	while (total < 100) {
		total += await passed(total % 2 === 0 ? app : other, 1)
		await until(async () => (await leased()) === total)
	}
	t.is(await passed(app, 20), 0)
	t.is(await passed(other, 20), 0)
})

test('no process leases more than an eighth of the rest in advance', async (t) => {
	const { pool, project } = await setupLimited(t, 100)
	const lease = async (waiting: number, wished: number) =>
		(
			await leaseRate(pool, {
				projectId: project.id,
				limit: 100,
				waiting,
				wish: wished,
				spender: 'secret',
			})
		)[0]!.granted
	t.is(await lease(1, 64), 12)
	t.is(await lease(1, 4), 4)
	t.is(await lease(30, 1), 30)
	t.is(await lease(1, 64), 6)
	t.is(await lease(45, 64), 45)
	t.is(await lease(1, 64), 1)
	t.is(await lease(9, 64), 2)
	t.is(await lease(1, 64), 0)
})

test('unused leases are given back when the process stops', async (t) => {
	const { app, orm, settings, passed, leased } = await setupLimited(t, 1000)
	const { app: other } = await startApp(t, orm, { settings })
	t.is(await passed(other, 3), 3)
	for (let count = 0; count < 6; count++) t.is(await passed(other, 1), 1)
	await other.close()
	t.is(await leased(), 9)
	t.is(await passed(app, 1), 1)
})

test('a busy project costs far fewer statements than requests', async (t) => {
	const { app, pool, passed } = await setupLimited(t, 10_000)
	let leases = 0
	const query = pool.query.bind(pool)
	t.teardown(() => Object.assign(pool, { query }))
	Object.assign(pool, {
		query: (statement: { name?: string }) => {
			if (statement.name === 'lease-rate') leases++
			return query(statement as never)
		},
	})
	for (let count = 0; count < 50; count++) t.is(await passed(app, 10), 10)
	t.true(leases < 250, `${leases} leases for 500 requests`)
})

test('a new minute is a new budget, even for a process that missed the end of the old one', async (t) => {
	const { app, orm, pool, project, settings, passed } = await setupLimited(t, 10)
	t.is(await passed(app, 15), 10)
	const second = async () =>
		(await pool.query(`select extract(second from clock_timestamp())::int as second`)).rows[0]
			.second
	// All requests of the new budget are in the same minute.
	await until(async () => (await second()) < 50)
	await pool.query(
		`update request_budgets set window_start = window_start - interval '2 minutes' where project_id = $1`,
		[project.id],
	)
	const { app: fresh } = await startApp(t, orm, { settings })
	t.is(await passed(fresh, 15), 10)
})

test('projects have separate budgets, and requests without a valid key use none', async (t) => {
	const { app, orm, ask, passed } = await setupLimited(t, 3)
	const { withSecretKey } = await createProject(orm)
	t.is(await passed(app, 10), 3)
	t.not((await ask(app, withSecretKey)).statusCode, 429)
	const anonymous = await ask(app, {})
	t.is(anonymous.statusCode, 401)
	t.is(anonymous.headers['ratelimit-limit'], undefined)
})

test('0 is no limit', async (t) => {
	const { app, ask } = await setupLimited(t, 0)
	t.is((await ask(app)).headers['ratelimit-limit'], undefined)
})

test('the public key uses nothing of the secret key’s budget', async (t) => {
	const { app, pool, project, ask, withPublicKey } = await setupLimited(t, 3)
	await beginNextMinute(pool, project.id, 'public')
	const track = async () =>
		(await app.inject({ method: 'POST', url: '/v1/track', headers: withPublicKey, payload: {} }))
			.statusCode
	t.deepEqual([await track(), await track(), await track(), await track()], [422, 422, 422, 429])
	t.is((await ask(app)).headers['ratelimit-remaining'], '2')
})

test('each session has a limit in each project, previews included, and one outside of projects', async (t) => {
	const { app, orm, pool, project } = await setupLimited(t, 3)
	const { user, headers } = await createUser(app, orm, 'anna@example.com')
	const { project: other } = await createProject(orm)
	const { rows } = await pool.query('select id from sessions')
	for (const { id } of [project, other]) {
		await addMember(orm, await orm.em.fork().findOneOrFail(Project, id), user, 'OWNER')
		await beginNextMinute(pool, id, rows[0].id)
	}
	const preview = async (id: string) =>
		(
			await app.inject({
				method: 'POST',
				url: '/templates/none/preview',
				headers: { ...headers, 'x-project-id': id },
				payload: {},
			})
		).headers['ratelimit-remaining']
	t.deepEqual([await preview(project.id), await preview(project.id)], ['2', '1'])
	t.is(await preview(other.id), '2')
	for (let count = 0; count < 3; count++) await preview(project.id)
	const refused = await app.inject({
		method: 'POST',
		url: '/templates/none/preview',
		headers: { ...headers, 'x-project-id': project.id },
		payload: {},
	})
	t.is(refused.statusCode, 429)
	const me = async () => (await app.inject({ url: '/users/@me', headers })).statusCode
	t.deepEqual([await me(), await me(), await me(), await me()], [200, 200, 200, 429])
})
