import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { ensureSchedules } from '../activities/schedules.ts'
import { type Limits, segmentActivities, type SweptPage } from '../activities/segments.ts'
import { takeDueSegments } from '../db/segments/segment-sweep.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { createProject } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { openSegments, plan } from './helpers/segments.ts'
import { fillForSlowCount } from './helpers/slow-count.ts'
import { quiet, withWorkers } from './helpers/workflow.ts'

test('a sweep computes each tracked segment once, and no other', async (t) => {
	const { call, contact, entries, pool } = await openSegments(t)
	await contact('a@example.com', { plan: 'pro' })
	const condition = plan('pro')
	await call('POST', '', { name: 'Tracked', condition, trackMembership: true })
	await call('POST', '', { name: 'Untracked', condition })
	await call('POST', '', { name: 'Static', type: 'STATIC', trackMembership: true })
	t.deepEqual(await sweep(pool), { computed: 1, failed: 0, added: 1, removed: 0, isLast: true })
	t.like(await sweep(pool), { computed: 0, isLast: true })
	await pool.query(`update segments set sweep_at = now() where sweep_at is not null`)
	t.like(await sweep(pool), { computed: 1, added: 0 })
	t.deepEqual(await entries(), ['a@example.com segment.tracked.entry'])
})

test('tracking that is switched on is swept, and switched off no longer', async (t) => {
	const { call, pool } = await openSegments(t)
	const { id } = (await call('POST', '', { name: 'Pro', condition: plan('pro') })).json()
	t.like(await sweep(pool), { computed: 0 })
	await call('PATCH', `/${id}`, { trackMembership: true })
	t.like(await sweep(pool), { computed: 1 })
	await call('PATCH', `/${id}`, { trackMembership: false })
	await pool.query(`update segments set sweep_at = now() where sweep_at is not null`)
	t.like(await sweep(pool), { computed: 0 })
})

test('a segment that cannot be computed delays no other, and disabled projects wait', async (t) => {
	const { call, pool } = await openSegments(t)
	for (const name of ['One', 'Two', 'Three'])
		await call('POST', '', { name, condition: plan('pro'), trackMembership: true })
	await pool.query(`update segments set condition = '{}' where name = 'One'`)
	t.like(await sweep(pool), { computed: 2, failed: 1 })
	await pool.query(`update projects set disabled_reason = 'MANUAL'`)
	await pool.query(`update segments set sweep_at = now()`)
	t.like(await sweep(pool), { computed: 0, failed: 0 })
})

test('projects take turns: many segments of one keep no other waiting', async (t) => {
	const { call, orm, pool, projectId } = await openSegments(t)
	for (let i = 0; i < 5; i++)
		await call('POST', '', { name: `Many ${i}`, condition: plan('pro'), trackMembership: true })
	const { project: other } = await createProject(orm)
	await pool.query(
		`insert into segments (project_id, name, type, condition, track_membership, sweep_at)
		select $1, name, type, condition, track_membership, now() from segments where name = 'Many 0'`,
		[other.id],
	)
	await pool.query(
		`update segments set sweep_at = now() - interval '1 hour' where project_id = $1`,
		[projectId],
	)
	const taken = async () =>
		(await takeDueSegments(pool, { limit: 20 })).map((segment) => segment.projectId)
	t.deepEqual((await taken()).toSorted(), [projectId, other.id].toSorted())
	for (let i = 0; i < 4; i++) t.deepEqual(await taken(), [projectId])
	t.deepEqual(await taken(), [])
})

test('slow segments of a project keep no other waiting, and are computed once the others are', async (t) => {
	const { call, orm, pool, projectId } = await openSegments(t)
	const slow = await fillForSlowCount(pool)
	slow.groups[0]!.filters.length = 10
	for (let i = 0; i < 4; i++)
		await call('POST', '', { name: `Slow ${i}`, condition: slow, trackMembership: true })
	const { project: other } = await createProject(orm)
	await pool.query(
		`insert into segments (project_id, name, type, condition, track_membership, sweep_at)
		select $1, 'Quick ' || i, 'DYNAMIC', $2, true, now() from generate_series(1, 3) i`,
		[other.id, plan('pro')],
	)
	await pool.query(
		`update segments set sweep_at = now() - interval '1 hour' where project_id = $1`,
		[projectId],
	)
	let isOver = false
	const swept = sweep(pool, { mostMs: 500, mostMsIfSlow: 30_000, turnMs: 5000 }).then((page) => {
		isOver = true
		return page
	})
	const quick = `select from segments where project_id = $1 and computed_until is not null`
	while (!isOver && (await pool.query(quick, [other.id])).rowCount !== 3) await sleep(20)
	t.false(isOver)
	const { computed, failed } = await swept
	t.true(computed > 3, `${computed}`)
	t.is(failed, 0)
})

test('a segment that takes too long is left to a sweep an hour later', async (t) => {
	const { call, contact, pool } = await openSegments(t)
	await contact('ann@example.com', { plan: 'pro' })
	await call('POST', '', { name: 'Pro', condition: plan('pro'), trackMembership: true })
	await pool.query(`create function stop() returns trigger language plpgsql as $$
		begin raise exception 'too slow' using errcode = '57014'; end $$;
		create trigger stop before insert on segment_members for each row execute function stop()`)
	await pool.query(`update segments set sweep_at = now() where sweep_at is not null`)
	t.like(await sweep(pool), { computed: 0, failed: 1 })
	const { rows } = await pool.query<{ minutes: number }>(
		`select extract(epoch from sweep_at - now())::int / 60 as minutes from segments`,
	)
	t.true(rows[0]!.minutes >= 58, `${rows[0]!.minutes}`)
})

test('a worker that stops ends the segment it computes, and leaves the others to another worker', async (t) => {
	const { call, pool } = await openSegments(t)
	for (const name of ['One', 'Two', 'Three'])
		await call('POST', '', { name, condition: plan('pro'), trackMembership: true })
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin; lock table segment_members in access exclusive mode')
	const stopping = new AbortController()
	const swept = sweep(pool, undefined, stopping.signal)
	await lockWaits(t, pool, 1)
	stopping.abort()
	await holder.query('commit')
	t.like(await swept, { computed: 1, isLast: false })
	t.like(await sweep(pool), { computed: 2, isLast: true })
})

test('a sweep folds the tallies into the counts', async (t) => {
	const { call, pool } = await openSegments(t)
	const { id } = (await call('POST', '', { name: 'Mine', type: 'STATIC' })).json()
	for (const name of ['a', 'b', 'c'])
		await call('POST', `/${id}/members`, { emails: [`${name}@example.com`], createMissing: true })
	await sweep(pool)
	const { rows } = await pool.query('select from segment_tallies')
	t.is(rows.length, 0)
	t.is((await call('GET', `/${id}`)).json().memberCount, 3)
})

test('members of a time when a segment was tracked change its count no more', async (t) => {
	const { app, call, contact, pool, withSecretKey: headers } = await openSegments(t)
	const ann = (await contact('ann@example.com', { plan: 'pro' })).json<{ id: string }>()
	await contact('bob@example.com', { plan: 'pro' })
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	await sweep(pool)
	t.is((await call('PATCH', `/${id}`, { trackMembership: false })).statusCode, 200)
	const url = `/contacts/${ann.id}`
	await app.inject({ method: 'PATCH', url, headers, payload: { data: { plan: 'free' } } })
	t.deepEqual((await call('POST', `/${id}/refresh`)).json(), { memberCount: 1 })
	t.is((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
	await sweep(pool)
	t.is((await call('GET', `/${id}`)).json().memberCount, 1)
})

test('a sweep continues page by page until nothing is due', async (t) => {
	const page = { computed: 20, failed: 1, added: 5, removed: 2 }
	const pages = [true, true, false].map((isMore) => ({ ...page, isLast: !isMore })).values()
	const sweepSegments = async () => pages.next().value as SweptPage
	const said = await withWorkers({ sweepSegments }, ({ workflow }) =>
		workflow.execute('segmentSweep', {
			taskQueue: taskQueues.core,
			workflowId: 'segment-sweep',
			args: [],
		}),
	)
	t.is(said, '60 segments computed, 15 entries, 6 exits, 3 failed')
})

test('workers create the schedule once, and a paused one stays paused', async (t) => {
	quiet()
	await withWorkers({ sweepSegments: nothingDue }, async (client) => {
		await Promise.all([ensureSchedules(client), ensureSchedules(client)])
		const handle = client.schedule.getHandle('segment-sweep')
		await handle.pause('an operator')
		await ensureSchedules(client)
		const { spec, policies, state, action } = await handle.describe()
		t.is(spec.intervals?.[0]?.every, 300_000)
		t.like(policies, { overlap: 'SKIP', catchupWindow: 60_000 })
		t.true(state.paused)
		t.like(action, { workflowType: 'segmentSweep', taskQueue: taskQueues.core })
		await handle.delete()
	})
})

const nothingDue = async () => ({ computed: 0, failed: 0, added: 0, removed: 0, isLast: true })

const logger = new DefaultLogger('ERROR', () => {})
const sweep = (pool: Pool, limits?: Limits, stopping = new AbortController().signal) =>
	new MockActivityEnvironment({}, { logger }).run(
		segmentActivities({ pool, stopping }, limits).sweepSegments,
	) as Promise<SweptPage>
