import type { ExecutionContext } from 'ava'
import test from 'ava'
import { commonestEvents, eventSums } from '../db/events/event-queries.ts'
import { EventCount, EventTally } from '../db/events/event-tally.ts'
import { Event } from '../db/events/event.ts'
import { poolOf } from '../db/statement.ts'
import { createProject, setup } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'
import { lockWaits } from './helpers/locks.ts'

async function setupCounts(t: ExecutionContext) {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	return {
		orm,
		pool,
		project,
		add: (...events: Partial<Event>[]) =>
			orm.em.fork().insertMany(
				Event,
				events.map((event) => ({ projectId: project.id, name: 'order', ...event })),
			),
		fold: () => pool.query('select fold_event_tallies($1)', [project.id]),
		stats: () => commonestEvents(pool, { projectId: project.id, since: null, until: null }),
		/** The numbers of tallies to be folded, and of folded counts. */
		rows: async () => [
			await orm.em.fork().count(EventTally),
			await orm.em.fork().count(EventCount),
		],
	}
}

test('counts are exact through inserts, deletions and folding', async (t) => {
	const { add, fold, pool, rows, stats } = await setupCounts(t)
	const days = ['2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00.000Z', '2026-03-02T23:59:59.999Z']
	const events = days.map((day) => ({ createdAt: new Date(day) }))
	await add(...events, ...events)
	await pool.query(`delete from events where created_at = '${days[0]}'`)
	t.deepEqual(await stats(), [{ name: 'order', count: 4 }])
	await fold()
	t.deepEqual(await rows(), [0, 2])
	t.deepEqual(await stats(), [{ name: 'order', count: 4 }])
	await add(...events)
	t.deepEqual(await stats(), [{ name: 'order', count: 7 }])
	await fold()
	t.deepEqual(await stats(), [{ name: 'order', count: 7 }])
	t.deepEqual(await rows(), [0, 2])
})

test('many events are folded on the way, without a request', async (t) => {
	const { pool, project, rows, stats } = await setupCounts(t)
	await pool.query(
		`do $$ begin for i in 1..4000 loop
			insert into events (project_id, name) values ('${project.id}', 'order');
		end loop; end $$`,
	)
	t.true((await rows())[0]! < 4000)
	t.deepEqual(await stats(), [{ name: 'order', count: 4000 }])
})

test('with too many event names, the most frequent are listed', async (t) => {
	const { app, pool, project, withSecretKey: headers } = await setup(t)
	await pool.query(
		`insert into events (project_id, name) select $1, 'name ' || n from generate_series(1, 10100) n`,
		[project.id],
	)
	await pool.query(`insert into events (project_id, name) values ($1, 'name 10100')`, [project.id])
	const get = async (url: string) => (await app.inject({ url, headers })).json()
	const { eventNames } = await get('/events/names')
	t.is(eventNames.length, 10_000)
	t.is(eventNames[0], 'name 10100')
	const stats = await get('/events/stats')
	t.is(stats.length, 10_000)
	t.deepEqual(stats[0], { name: 'name 10100', count: 2 })
	// The others are counted anyway.
	t.is((await get('/activity/stats')).totalEvents, 10_101)
	t.is((await get('/activity/recent-count')).count, 10_101)
})

test('counts of events that take too long end with 503, and those of a short period read only its days', async (t) => {
	const { app, pool, project, withSecretKey } = await setup(t)
	await pool.query(
		`insert into event_counts (project_id, name, day, count)
		select $1, 'event ' || n, date '2026-01-01' + n % 200, 1 from generate_series(1, 40000) n`,
		[project.id],
	)
	await pool.query('analyze event_counts')
	const { rows: plan } = await pool.query(
		`explain select sum(count) from counted_events('${project.id}') t
			where day >= '2026-03-01' and day <= '2026-03-02'`,
	)
	t.regex(JSON.stringify(plan), /event_counts_by_day/)

	const holder = await pool.connect()
	await holder.query('begin; lock table event_counts in access exclusive mode')
	const get = (url: string) => app.inject({ url, headers: withSecretKey })
	const urls = ['/events/names', '/events/stats', '/activity/stats', '/activity/recent-count']
	const others = ['/activity', '/analytics/top-events', '/workflows/fields']
	const answers = await Promise.all([...urls, ...others].map(get))
	for (const answer of answers) {
		t.is(answer.statusCode, 503, answer.body)
		t.truthy(answer.headers['retry-after'])
	}
	const waiting = get('/events/names')
	await lockWaits(t, pool, 1)
	await holder.query('commit')
	holder.release()
	t.is((await waiting).statusCode, 200)
})

test('however many names custom events have, the feed counts them in one row, to the millisecond', async (t) => {
	const { add, pool, project } = await setupCounts(t)
	const at = (time: string) => new Date(`2026-03-0${time}Z`)
	const names = ['order', 'signup', 'email.open', 'contact.subscribed']
	for (const time of ['1T12:00:00.000', '2T12:00:00.000', '3T12:00:00.000', '3T12:00:00.001'])
		await add(...names.map((name) => ({ name, createdAt: at(time) })))
	const sums = async (since: string, until?: string) => {
		const asked = { projectId: project.id, since: at(since), until: until ? at(until) : null }
		return Object.fromEntries(
			(await eventSums(pool, asked)).map(({ name, count }) => [name, count]),
		)
	}
	const counts = (days: number) => ({
		'event.triggered': 2 * days,
		'email.open': days,
		'contact.subscribed': days,
	})
	t.deepEqual(await sums('1T00:00:00.000'), counts(4))
	t.deepEqual(await sums('1T12:00:00.000', '3T12:00:00.000'), counts(3))
	t.deepEqual(await sums('1T12:00:00.001', '3T12:00:00.001'), counts(3))
	t.deepEqual(await sums('2T00:00:00.000', '2T23:59:59.999'), counts(1))
	t.deepEqual(await sums('3T12:00:00.002'), {
		'event.triggered': 0,
		'email.open': 0,
		'contact.subscribed': 0,
	})
})

test('writers do not wait for folding, nor does folding wait for them', async (t) => {
	const { add, fold, orm, project, rows, stats } = await setupCounts(t)
	await add({})
	await orm.em.fork().transactional(async (em) => {
		await em.execute('select fold_event_tallies(?)', [project.id])
		await add({})
		await fold()
	})
	t.deepEqual(await rows(), [1, 1])
	await orm.em.fork().transactional(async (em) => {
		await em.execute('select from event_tallies for update')
		await fold()
	})
	t.deepEqual(await rows(), [1, 1])
	t.deepEqual(await stats(), [{ name: 'order', count: 2 }])
})

test('rolled-back events are not counted', async (t) => {
	const { orm, project, stats } = await setupCounts(t)
	const em = orm.em.fork()
	await em.begin()
	await em.execute('insert into events (project_id, name) values (?, ?)', [project.id, 'order'])
	await em.execute('select fold_event_tallies(?)', [project.id])
	await em.rollback()
	t.deepEqual(await stats(), [])
})

test('deleting a project deletes its events and their counts', async (t) => {
	const { add, fold, pool, rows } = await setupCounts(t)
	await add({ name: 'a' }, { name: 'b' })
	await fold()
	await add({ name: 'c' })
	await pool.query('delete from projects')
	t.is((await pool.query('select from events')).rowCount, 0)
	t.deepEqual(await rows(), [0, 0])
})
