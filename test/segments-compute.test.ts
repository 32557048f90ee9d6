import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { until } from '../bench/load.ts'
import { computeSegment } from '../db/segments/segment-compute.ts'
import { createProject } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { openSegments, plan } from './helpers/segments.ts'

test('a compute stores the members, with one event for each entry and exit', async (t) => {
	const { call, contact, entries, pool } = await openSegments(t)
	await contact('a@example.com', { plan: 'pro' })
	await contact('b@example.com', { plan: 'pro' })
	await contact('c@example.com', { plan: 'free' })
	const body = { name: 'Pro & Förster!', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	const compute = async () => (await call('POST', `/${id}/compute`)).json()
	t.deepEqual(await compute(), { added: 2, removed: 0, total: 2 })
	t.deepEqual(await compute(), { added: 0, removed: 0, total: 2 })
	await contact('b@example.com', { plan: 'free' })
	await contact('c@example.com', { plan: 'pro' })
	t.deepEqual(await compute(), { added: 1, removed: 1, total: 2 })
	t.deepEqual(await entries(), [
		'a@example.com segment.pro-forster.entry',
		'b@example.com segment.pro-forster.entry',
		'b@example.com segment.pro-forster.exit',
		'c@example.com segment.pro-forster.entry',
	])
	const { rows } = await pool.query('select distinct data from events')
	t.deepEqual(rows, [{ data: { segmentId: id, segmentName: 'Pro & Förster!' } }])
	t.is((await call('GET', `/${id}`)).json().memberCount, 2)
})

test('a tracked segment says up to when its members are computed', async (t) => {
	const { call } = await openSegments(t)
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id, computedAt } = (await call('POST', '', body)).json()
	t.is(computedAt, null)
	const computed = async () => {
		await call('POST', `/${id}/compute`)
		return Date.parse((await call('GET', `/${id}`)).json().computedAt)
	}
	const first = await computed()
	t.true(first <= Date.now())
	t.true((await computed()) > first)
	await call('PATCH', `/${id}`, { trackMembership: false })
	t.is((await call('GET', '')).json()[0].computedAt, null)
})

test('while a compute waits for its segment, contacts can be deleted', async (t) => {
	const { call, contact, pool, entries, app, withSecretKey: headers } = await openSegments(t)
	await contact('a@example.com', { plan: 'pro' })
	await contact('b@example.com', { plan: 'free' })
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	const { rows } = await pool.query(`select id from contacts where email = 'b@example.com'`)
	const counting = await pool.connect()
	t.teardown(() => counting.release(true))
	await counting.query('begin')
	await counting.query('select from segments where id = $1 for no key update', [id])
	const computing = call('POST', `/${id}/compute`)
	await lockWaits(t, pool, 1)
	const deleted = await app.inject({ method: 'DELETE', url: `/contacts/${rows[0].id}`, headers })
	t.is(deleted.statusCode, 204)
	await counting.query('rollback')
	t.like((await computing).json(), { added: 1, total: 1 })
	t.is((await entries()).length, 1)
})

test('computes of one segment at the same time emit each event once', async (t) => {
	const { call, contact, entries } = await openSegments(t)
	for (let i = 0; i < 20; i++) await contact(`c${i}@example.com`, { plan: 'pro' })
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', `/${id}/compute`)))
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode),
		Array.from({ length: 8 }, () => 200),
	)
	const added = answers.map((answer) => answer.json<{ added: number }>().added)
	t.is(
		added.reduce((sum, n) => sum + n, 0),
		20,
	)
	t.is((await entries()).length, 20)
})

test('only a tracked segment is computed, and a static one says how many it has', async (t) => {
	const { call } = await openSegments(t)
	const untracked = (await call('POST', '', { name: 'Pro', condition: plan('pro') })).json()
	const refused = await call('POST', `/${untracked.id}/compute`)
	t.is(refused.statusCode, 400)
	t.is(refused.json().error.code, 'BAD_REQUEST')
	const fixed = (await call('POST', '', { name: 'Mine', type: 'STATIC' })).json()
	const emails = ['a@example.com', 'b@example.com']
	await call('POST', `/${fixed.id}/members`, { emails, createMissing: true })
	t.deepEqual((await call('POST', `/${fixed.id}/compute`)).json(), {
		added: 0,
		removed: 0,
		total: 2,
	})
})

test('a recompute sees every kind of change since the last, though it looks only at changes', async (t) => {
	const { call, contact, entries, track, pool, projectId } = await openSegments(t)
	const condition = {
		logic: 'AND',
		groups: [
			{
				filters: [
					{ field: 'data.plan', operator: 'equals', value: 'pro' },
					{ field: 'event.login', operator: 'triggeredWithin', value: 30, unit: 'days' },
				],
			},
		],
	}
	for (const name of ['stays', 'downgrades', 'forgets', 'upgrades', 'comes', 'never']) {
		await contact(`${name}@example.com`, { plan: name === 'upgrades' ? 'free' : 'pro' })
		if (name !== 'comes' && name !== 'never') await track(`${name}@example.com`, 'login')
	}
	const body = { name: 'Active', condition, trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	t.deepEqual(await computeSegment(pool, projectId, id), { added: 3, removed: 0, total: 3 })
	await age(pool)

	await contact('downgrades@example.com', { plan: 'free' })
	await contact('upgrades@example.com', { plan: 'pro' })
	await track('comes@example.com', 'login')
	await pool.query(
		`update events set created_at = now() - interval '30 days 1 minute' where name = 'login'
			and contact_id = (select id from contacts where email = 'forgets@example.com')`,
	)
	t.deepEqual(await computeSegment(pool, projectId, id), { added: 2, removed: 2, total: 3 })
	t.deepEqual((await entries()).slice(3), [
		'comes@example.com segment.active.entry',
		'downgrades@example.com segment.active.exit',
		'forgets@example.com segment.active.exit',
		'upgrades@example.com segment.active.entry',
	])
})

test('a recompute reads only changed contacts, and all of them once a day', async (t) => {
	const { call, contact, pool, projectId } = await openSegments(t)
	await contact('a@example.com', { plan: 'pro' })
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	await computeSegment(pool, projectId, id)
	await age(pool)
	// A write without a time, which no request would make.
	await pool.query(`update contacts set data = '{}'`)
	t.deepEqual(await computeSegment(pool, projectId, id), { added: 0, removed: 0, total: 1 })
	await pool.query(`update segments set computed_fully_at = now() - interval '2 days'`)
	t.deepEqual(await computeSegment(pool, projectId, id), { added: 0, removed: 1, total: 0 })
})

test('a recompute begins where the oldest transaction began that was open during the last', async (t) => {
	const { call, contact, pool, projectId } = await openSegments(t)
	await contact('a@example.com', { plan: 'free' })
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	const slow = await pool.connect()
	await slow.query('begin')
	await slow.query(`update contacts set data = '{"plan": "pro"}', updated_at = now()`)
	await pool.query('select pg_sleep(0.1)')
	t.like(await computeSegment(pool, projectId, id), { added: 0 })
	await slow.query('commit')
	slow.release()
	const { rows } = await pool.query(
		`select updated_at - computed_until between interval '1 s' and interval '1.002 s' as is_same
		from contacts, (select computed_until from segments) s`,
	)
	t.deepEqual(rows, [{ is_same: true }])
	t.like(await computeSegment(pool, projectId, id), { added: 1 })
})

/** Moves everything so far to an hour ago, and the last compute to half an hour ago. */
const age = (pool: Pool) =>
	pool.query(`
		with c as (update contacts set updated_at = updated_at - interval '1 hour', created_at = created_at - interval '1 hour'),
		s as (update segments set computed_until = computed_until - interval '30 minutes'),
		e as (update events set created_at = created_at - interval '1 hour')
		select 1`)

test('the names of its events spell a segment in plain letters', async (t) => {
	const { call, contact, entries } = await openSegments(t)
	await contact('a@example.com', { plan: 'pro' })
	const spelled = { İstanbul: 'istanbul', 'Straße Ærø': 'strasse-aero', Йод: 'йод' }
	for (const name of Object.keys(spelled)) {
		const body = { name, condition: plan('pro'), trackMembership: true }
		const { id } = (await call('POST', '', body)).json()
		t.like((await call('POST', `/${id}/compute`)).json(), { added: 1 })
	}
	const expected = Object.values(spelled).map((slug) => `a@example.com segment.${slug}.entry`)
	t.deepEqual((await entries()).toSorted(), expected.toSorted())
})

test('a compute that died in the middle leaves the rest to the next, with one event for each entry', async (t) => {
	const { call, pool, projectId } = await openSegments(t)
	await pool.query(
		`insert into contacts (project_id, email, subscribed, data)
		select $1, 'c' || i || '@example.com', true, '{"plan": "pro"}' from generate_series(1, 12000) i`,
		[projectId],
	)
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	// The process dies while writing the second of six chunks: its connection ends.
	await pool.query(`create function die() returns trigger language plpgsql as $$
		begin
			if (select count(*) from segment_members) > 2000 then
				perform pg_terminate_backend(pg_backend_pid());
			end if;
			return null;
		end $$`)
	await pool.query(
		`create trigger dying after insert on segment_members for each statement execute function die()`,
	)
	await t.throwsAsync(computeSegment(pool, projectId, id))
	await pool.query('drop trigger dying on segment_members')
	t.is((await pool.query('select from segment_members')).rowCount, 2000)
	t.like(await computeSegment(pool, projectId, id), { added: 10000, removed: 0, total: 12000 })
	const { rows } = await pool.query(
		`select count(*)::int as events, count(distinct contact_id)::int as contacts from events
		where name = 'segment.pro.entry'`,
	)
	t.deepEqual(rows, [{ events: 12000, contacts: 12000 }])
})

test('a condition that is changed during a compute keeps its count', async (t) => {
	const { call, contact, pool, projectId } = await openSegments(t)
	for (const name of ['ann', 'bob']) await contact(`${name}@example.com`, { plan: 'pro' })
	await contact('eve@example.com', { plan: 'free' })
	const body = { name: 'Plan', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin')
	await holder.query('select pg_advisory_xact_lock(deletions_of_contacts($1::uuid))', [projectId])
	const computed = computeSegment(pool, projectId, id)
	await lockWaits(t, pool, 1)
	t.is((await call('PATCH', `/${id}`, { condition: plan('free') })).json().memberCount, 1)
	await holder.query('commit')
	t.deepEqual(await computed, { added: 0, removed: 0, total: 1 })
	t.is((await call('GET', `/${id}`)).json().memberCount, 1)
})

test('a compute that takes too long ends, and leaves its turn to others', async (t) => {
	const { call, contact, pool, projectId } = await openSegments(t)
	await contact('ann@example.com', { plan: 'pro' })
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	const holder = await pool.connect()
	await holder.query('begin; lock table contacts in access exclusive mode')
	await t.throwsAsync(computeSegment(pool, projectId, id, 300), { code: '57014' })
	await holder.query('commit')
	holder.release()
	t.like(await computeSegment(pool, projectId, id), { added: 1 })
})

test('while reading all contacts takes too long, the changes since the last compute are still stored', async (t) => {
	const { call, contact, pool, projectId } = await openSegments(t)
	await contact('ann@example.com', { plan: 'pro' })
	// Slow for each contact with much data.
	const slow = Array.from({ length: 40 }, (_, i) => ({
		filters: [{ field: `data.f${i}`, operator: 'contains', value: 'y' }],
	}))
	const condition = { logic: 'OR', groups: [...plan('pro').groups, ...slow] }
	const { id } = (await call('POST', '', { name: 'Slow', condition, trackMembership: true })).json()
	t.like(await computeSegment(pool, projectId, id), { added: 1 })
	await pool.query(
		`insert into contacts (project_id, email, subscribed, data, updated_at)
		select $1, n || '@example.com', true, jsonb_object_agg('f' || f, repeat('x', 1000)), now() - interval '2 days'
		from generate_series(1, 1000) n, generate_series(0, 39) f group by n`,
		[projectId],
	)
	const readAll = () =>
		pool.query(`update segments set computed_fully_at = now() - interval '2 days'`)
	await readAll()
	await contact('bob@example.com', { plan: 'pro' })
	const beganAt = performance.now()
	t.like(await computeSegment(pool, projectId, id, 300), { added: 1, removed: 0, total: 2 })
	t.true(performance.now() - beganAt >= 300)
	const { rows } = await pool.query<{ hours: number }>(
		`select (extract(epoch from now() - computed_fully_at) / 3600)::float8 as hours from segments`,
	)
	t.true(rows[0]!.hours > 22.9 && rows[0]!.hours < 23.1, 'all contacts are read in an hour')
	await readAll()
	t.like(await computeSegment(pool, projectId, id), { added: 0, removed: 0, total: 2 })
})

// Serial: the other tests would take some of the turns of this process.
test.serial(
	'while many computes of a project wait, more get 503, and other projects are answered',
	async (t) => {
		const { app, call, contact, orm, pool, projectId } = await openSegments(t)
		await contact('ann@example.com', { plan: 'pro' })
		const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
		const { id } = (await call('POST', '', body)).json()
		const holder = await pool.connect()
		t.teardown(() => holder.release(true))
		await holder.query('begin')
		await holder.query('select pg_advisory_xact_lock(deletions_of_contacts($1::uuid))', [projectId])
		const statusOf = async () => (await call('POST', `/${id}/compute`)).statusCode
		const first = statusOf()
		await lockWaits(t, pool, 1)
		const waiting = Array.from({ length: 11 }, statusOf)
		t.is(await Promise.race(waiting), 503)
		const { withSecretKey: headers } = await createProject(orm)
		const theirs = async (url: string, payload?: object) =>
			app.inject({ method: 'POST', url, headers, ...(payload && { payload }) })
		const other = (await theirs('/segments', body)).json<{ id: string }>()
		t.is((await theirs(`/segments/${other.id}/compute`)).statusCode, 200)
		await holder.query('commit')
		t.is(await first, 200)
		t.is((await Promise.all(waiting)).filter((status) => status === 200).length, 10)
	},
)

/** Two contacts who will enter a segment. */
async function setupPros(t: ExecutionContext) {
	const { call, contact, entries, pool, projectId } = await openSegments(t)
	for (const name of ['ann', 'bob']) await contact(`${name}@example.com`, { plan: 'pro' })
	const body = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	return { entries, pool, compute: () => computeSegment(pool, projectId, id) }
}

test('a contact that is being deleted when a compute starts does not enter', async (t) => {
	const { compute, entries, pool } = await setupPros(t)
	const deletion = await pool.connect()
	t.teardown(() => deletion.release())
	await deletion.query(`begin; delete from contacts where email = 'ann@example.com'`)
	const computing = compute()
	await lockWaits(t, pool, 1)
	await deletion.query('commit')
	t.deepEqual(await computing, { added: 1, removed: 0, total: 1 })
	t.deepEqual(await entries(), ['bob@example.com segment.pro.entry'])
	t.is((await pool.query('select from events')).rowCount, 1)
})

test('a contact that is deleted while a compute adds it takes its membership along', async (t) => {
	const { compute, pool } = await setupPros(t)
	// The compute stops while it writes, with its locks. It would not wait long for one.
	await pool.query(`create table held as select 1 as n;
		create function hold() returns trigger language plpgsql as $$ begin
			while exists (select from held) loop perform pg_sleep(0.02); end loop;
			return new;
		end $$;
		create trigger hold before insert on segment_members for each row execute function hold()`)
	const computing = compute()
	const isHeld = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
	t.true(await until(async () => (await pool.query(isHeld)).rowCount === 1, 10_000))
	const deleting = pool.query(`delete from contacts where email = 'ann@example.com'`)
	await lockWaits(t, pool, 1)
	await pool.query('delete from held')
	t.like(await computing, { added: 2 })
	await deleting
	const { rows } = await pool.query(
		`select (select count(*)::int from segment_members) as members,
			(select count(contact_id)::int from events) as attributed, (select count(*)::int from events) as events`,
	)
	t.deepEqual(rows, [{ members: 1, attributed: 1, events: 2 }])
})
