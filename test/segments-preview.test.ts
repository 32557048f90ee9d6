import test from 'ava'
import type { PoolClient } from 'pg'
import { createProject } from './helpers/app.ts'
import { openCampaigns, whole } from './helpers/campaigns.ts'
import { openSegments, plan } from './helpers/segments.ts'
import { fillForSlowCount } from './helpers/slow-count.ts'
import { readWithin, scanWithin } from '../db/timed-reading.ts'

test('a preview counts the contacts that match, shows the ten newest, and stores nothing', async (t) => {
	const { call, pool, orm } = await openSegments(t)
	await createProject(orm)
	await pool.query(
		`insert into contacts (project_id, email, subscribed, data, created_at)
		select id, 'p' || i || '@example.com', true, jsonb_build_object('plan', (array['pro', 'free'])[1 + i % 2]),
			timestamptz '2026-01-01' + i * interval '1 minute'
		from projects, generate_series(0, 29) i`,
	)
	const answer = await call('POST', '/preview', { condition: plan('pro') })
	t.is(answer.statusCode, 200)
	const { count, isCounted, sample } = answer.json()
	t.deepEqual([count, isCounted], [15, true])
	t.deepEqual(
		sample.map(({ email }: { email: string }) => email),
		Array.from({ length: 10 }, (_, i) => `p${28 - 2 * i}@example.com`),
	)
	t.like(sample[0], { subscribed: true, data: { plan: 'pro' } })
	t.deepEqual((await call('GET', '')).json(), [])
})

test('a condition that finds nobody has an empty preview', async (t) => {
	const { call } = await openSegments(t)
	const answer = await call('POST', '/preview', { condition: plan('pro') })
	t.deepEqual(answer.json(), { count: 0, isCounted: true, sample: [] })
})

test('a wrong condition is refused by its path', async (t) => {
	const { call } = await openSegments(t)
	const { id } = (await call('POST', '', { name: 'Gone', type: 'STATIC' })).json()
	await call('DELETE', `/${id}`)
	const ofGone = { field: `segment.${id}`, operator: 'memberOfSegment' }
	const bodies: [object, string][] = [
		[{}, 'condition'],
		[{ condition: null }, 'condition'],
		[{ condition: { logic: 'AND', groups: [] } }, 'condition.groups'],
		[
			{ condition: { logic: 'AND', groups: [{ filters: [{ field: 'name' }] }] } },
			'condition.groups.0.filters.0.field',
		],
		[
			{ condition: { logic: 'AND', groups: [{ filters: [ofGone] }] } },
			'condition.groups.0.filters.0.field',
		],
	]
	for (const [body, field] of bodies) {
		const answer = await call('POST', '/preview', body)
		t.is(answer.statusCode, 422)
		t.is(answer.json().error.errors[0].field, field)
	}
})

test('a query that reaches its time limit ends, and its connection can be used again', async (t) => {
	const { pool } = await openSegments(t)
	const slow = (db: PoolClient) => db.query('select pg_sleep(60)')
	t.is(await readWithin(pool, 50, slow), null)
	const many = await Promise.all(
		Array.from({ length: 8 }, () => scanWithin(pool, 'a project', 50, slow)),
	)
	t.true(many.every((each) => each === null))
	await pool.query('select pg_sleep(0.1)')
	t.is(await scanWithin(pool, 'a project', 1000, async () => 'read'), 'read')
	await t.throwsAsync(() => readWithin(pool, 1000, (db) => db.query('select 1 / 0')))
	await t.throwsAsync(() => readWithin(pool, 1000, (db) => db.query('delete from contacts')), {
		message: /read-only/,
	})
})

// Serial: the other tests would take some of the turns of this process.
test.serial(
	'while many counts of a project are under way, whatever counts or lists members gets 503, and other projects are answered',
	async (t) => {
		const { app, call, orm, pool, projectId } = await openSegments(t)
		const pro = { name: 'Pro', type: 'DYNAMIC', condition: plan('pro') }
		const { id } = (await call('POST', '', pro)).json<{ id: string }>()
		let finish = () => {}
		const finished = new Promise<void>((resolve) => (finish = resolve))
		t.teardown(() => finish())
		const many = Promise.all(
			Array.from({ length: 52 }, () => scanWithin(pool, projectId, 5000, () => finished)),
		)
		const refused = await call('POST', '/preview', { condition: plan('pro') })
		t.is(refused.statusCode, 503)
		t.is(refused.headers['retry-after'], '5')
		t.like(refused.json().error, { code: 'DATABASE_ERROR' })
		t.is((await call('GET', `/${id}/contacts`)).statusCode, 503)
		t.is((await call('POST', '', pro)).statusCode, 503)
		t.is((await call('PATCH', `/${id}`, { condition: plan('free') })).statusCode, 503)
		t.is((await call('POST', `/${id}/refresh`)).statusCode, 503)
		t.is((await call('PATCH', `/${id}`, { name: 'Professionals' })).statusCode, 200)
		t.is((await call('POST', '', { name: 'Mine', type: 'STATIC' })).statusCode, 201)
		const { withSecretKey: headers } = await createProject(orm)
		const theirs = async (url: string, payload: object) =>
			(await app.inject({ method: 'POST', url, headers, payload })).statusCode
		t.is(await theirs('/segments/preview', { condition: plan('pro') }), 200)
		t.is(await theirs('/segments', pro), 201)
		finish()
		await many
		t.is((await call('POST', '/preview', { condition: plan('pro') })).statusCode, 200)
		t.is((await call('GET', `/${id}/contacts`)).statusCode, 200)
	},
)

test('a count that takes too long is left out, and the sample still comes', async (t) => {
	const { call, pool } = await openSegments(t)
	const condition = await fillForSlowCount(pool)
	const answer = await call('POST', '/preview', { condition })
	t.like(answer.json(), { count: null, isCounted: false })
	t.is(answer.json().sample.length, 10)
})

test('a change that counts ends after 30 seconds with 503, and frees its turn and locks', async (t) => {
	const { pool, request } = await openCampaigns(t)
	const pro = { name: 'Pro', condition: plan('pro') }
	const { id } = (await request('POST', '/segments', pro)).json<{ id: string }>()
	const slow = await pool.connect()
	t.teardown(() => slow.release())
	// A statement that waits counts as one that is slow.
	await slow.query('begin; lock table segment_tallies, campaigns in exclusive mode')
	const answers = await Promise.all([
		request('PATCH', `/segments/${id}`, { condition: plan('free') }),
		request('POST', '/campaigns', whole),
	])
	for (const answer of answers) {
		t.is(answer.statusCode, 503)
		t.is(answer.headers['retry-after'], '5')
		t.like(answer.json().error, { code: 'DATABASE_ERROR' })
	}
	await slow.query('rollback')
	t.deepEqual((await request('GET', `/segments/${id}`)).json().condition, plan('pro'))
	t.is((await request('POST', `/segments/${id}/refresh`)).statusCode, 200)
	t.is((await request('POST', '/campaigns', whole)).statusCode, 201)
})
