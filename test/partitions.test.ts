import test from 'ava'
import { until } from '../bench/load.ts'
import { Attempt } from '../db/emails/attempt.ts'
import { Email } from '../db/emails/email.ts'
import { Event } from '../db/events/event.ts'
import { addPartitions, dropPartitions } from '../db/partitions.ts'
import { poolOf } from '../db/statement.ts'
import { openCampaigns } from './helpers/campaigns.ts'
import { setupDatabase } from './helpers/database.ts'
import { setupEngagements } from './helpers/engagements.ts'
import { setupEvents } from './helpers/events.ts'
import { setupLedger } from './helpers/ledger.ts'
import { lockWaits, turnsEnded } from './helpers/locks.ts'
import { happenedBefore, partitionsOf, splitIntoMonths, tablesOfMonths } from './helpers/months.ts'

const monthsFrom = (first: number, last: number) =>
	Array.from({ length: last - first + 1 }, (_, i) => {
		const month = new Date()
		month.setUTCDate(1)
		month.setUTCMonth(month.getUTCMonth() + first + i)
		return month.toISOString().slice(0, 7).replace('-', '_')
	})

test('there are tables for this month and the next two, whoever makes them first', async (t) => {
	const pool = await poolOf((await setupDatabase(t)).em)
	for (const table of tablesOfMonths) {
		const names = await partitionsOf(pool, table)
		const first = names.find((name) => name.startsWith(`${table}_before_`))!
		const month = first.slice(-7)
		t.deepEqual(
			names.filter((name) => name !== first),
			monthsFrom(0, 2)
				.filter((one) => one >= month)
				.map((one) => `${table}_${one}`),
		)
	}
	t.is(await addPartitions(pool), 0)
	await splitIntoMonths(pool)
	for (const table of tablesOfMonths)
		t.deepEqual(
			await partitionsOf(pool, table),
			monthsFrom(0, 2).map((month) => `${table}_${month}`),
		)
	for (const table of tablesOfMonths)
		for (const month of monthsFrom(1, 2)) await pool.query(`drop table ${table}_${month}`)
	const added = await Promise.all([1, 2, 3].map(() => addPartitions(pool)))
	t.deepEqual(
		added.toSorted((a, b) => a - b),
		[0, 0, 6],
	)
})

test('nobody waits behind the making of a month, which waits for a transaction that uses a table', async (t) => {
	const pool = await poolOf((await setupDatabase(t)).em)
	await splitIntoMonths(pool)
	for (const table of tablesOfMonths)
		for (const month of monthsFrom(1, 2)) await pool.query(`drop table ${table}_${month}`)
	const writer = await pool.connect()
	await writer.query('begin; lock table contacts in row exclusive mode')
	const adding = addPartitions(pool)
	const isWaiting = async () =>
		(await pool.query(`select from pg_locks where relation = 'contacts'::regclass and not granted`))
			.rowCount! > 0
	t.true(await until(isWaiting, 10_000))
	const other = await pool.connect()
	await other.query(`set lock_timeout = '300ms'`)
	for (let tries = 0; tries < 5; tries++)
		await other.query(`begin; lock table contacts in row exclusive mode; commit`)
	other.release(true)
	await writer.query('rollback')
	writer.release()
	t.is(await adding, 6)
})

test('each table of a month is stored as its entity says, and has all indexes and references', async (t) => {
	const pool = await poolOf((await setupDatabase(t)).em)
	for (const [table, { partitions }] of Object.entries({
		emails: Email,
		attempts: Attempt,
		events: Event,
	}))
		for (const name of await partitionsOf(pool, table)) {
			const { rows } = await pool.query(
				`select array_to_string(reloptions, ', ') as options,
					(select array_to_string(attoptions, ', ') from pg_attribute
						where attrelid = c.oid and attname = 'contact_id') as contact,
					(select count(*)::int from pg_index i where i.indrelid = c.oid)
						- (select count(*)::int from pg_index i where i.indrelid = $2::regclass) as "moreIndexes",
					(select count(*)::int from pg_constraint f where f.conrelid = c.oid and f.contype in ('f', 'c'))
						- (select count(*)::int from pg_constraint f where f.conrelid = $2::regclass
							and f.contype in ('f', 'c')) as "moreConstraints"
				from pg_class c where c.oid = $1::regclass`,
				[name, table],
			)
			const [set, contact] = ['set', 'alter column contact_id set'].map((action) =>
				partitions.storage
					.find((one) => one.startsWith(action))
					?.slice(action.length + 2, -1)
					.replaceAll(' = ', '='),
			)
			t.deepEqual(
				rows,
				[{ options: set ?? null, contact: contact ?? null, moreIndexes: 0, moreConstraints: 0 }],
				name,
			)
		}
})

test('a month is removed whole, and what was counted stays counted', async (t) => {
	const { pool, app, withSecretKey, handedOver, get, fold } = await setupEngagements(t)
	await splitIntoMonths(pool, 13)
	const old = await handedOver()
	await get(old.open)
	await fold()
	await happenedBefore(pool, 13)
	const { id: young } = await handedOver()
	const ask = async (url: string) => (await app.inject({ url, headers: withSecretKey })).json()
	const figures = () =>
		Promise.all(['/analytics/timeseries', '/analytics/top-events', '/events/stats'].map(ask))
	const before = await figures()
	t.true(JSON.stringify(before).includes('"opens":1'), JSON.stringify(before))

	t.is(await dropPartitions(pool, 9999), 0)
	t.is(await dropPartitions(pool, 365), 3)
	t.is(await dropPartitions(pool, 365), 0)
	for (const table of tablesOfMonths)
		t.deepEqual(
			await partitionsOf(pool, table),
			monthsFrom(0, 2).map((month) => `${table}_${month}`),
		)
	t.deepEqual(await figures(), before)
	const { data } = await ask('/emails')
	t.deepEqual(
		data.map(({ id }: { id: string }) => id),
		[young],
	)
	t.is((await ask('/events?eventName=email.open')).events.length, 0)

	// Its reader still sees the picture and comes to the link.
	t.is((await get(old.open)).statusCode, 200)
	t.is((await get(old.click)).statusCode, 302)
	await fold()
	t.deepEqual(await figures(), before)
})

test('the total of a list of mails leaves out the mails of removed months, also if an older month is kept', async (t) => {
	const { pool, app, withSecretKey, handedOver } = await setupEngagements(t)
	await splitIntoMonths(pool, 14, 13, 1)
	const total = async () =>
		(await app.inject({ url: '/emails', headers: withSecretKey })).json().total as number
	const monthsPass = async (months: number) => {
		await happenedBefore(pool, months)
		for (const table of ['mail_counts', 'mail_tallies'])
			await pool.query(`update ${table} set slot = slot - interval '${months} months'`)
	}
	await handedOver()
	await handedOver()
	await monthsPass(1)
	await pool.query(`update emails set status = 'UNCERTAIN'`)
	await handedOver()
	await monthsPass(13)
	await handedOver()
	t.is(await total(), 4)
	t.is(await dropPartitions(pool, 300), 3)
	t.is(await total(), 3)
	await pool.query(`update emails set status = 'FAILED'`)
	t.is(await dropPartitions(pool, 300), 3)
	t.is(await total(), 1)
})

test('the totals of the recipients of a campaign leave out those of removed months, and its figures keep them', async (t) => {
	const { pool, contacts, started, call, query } = await openCampaigns(t)
	await splitIntoMonths(pool, 13)
	await contacts(5)
	const id = await started()
	const total = async (status = '') =>
		(await call('GET', `/${id}/recipients${status}`)).json().total as number
	const totals = () => Promise.all(['', '?status=FAILED', '?status=SENT'].map(total))
	await query(
		`update emails set status = case when "to" in ('user0@example.net', 'user1@example.net') then 'FAILED' else 'SENT' end`,
	)
	t.deepEqual(await totals(), [5, 2, 3])
	const figures = async () => (await call('GET', `/${id}/stats`)).json()
	const before = await figures()

	// It began 13 months ago, and one of each has left in this month.
	await query(
		`update emails set id = uuidv7(interval '-13 months') where "to" not in ('user1@example.net', 'user4@example.net')`,
	)
	await query(
		`update campaigns set status = 'SENT', started_at = now() - interval '13 months', closed_at = now()`,
	)
	t.deepEqual(await totals(), [5, 2, 3])
	t.is(await dropPartitions(pool, 365), 3)
	t.deepEqual(await totals(), [2, 1, 1])
	t.deepEqual(await figures(), before)
})

test('a deletion of events takes their counts of removed months too, and takes them once', async (t) => {
	const { add, call, get, pool } = await setupEvents(t)
	await splitIntoMonths(pool, 13)
	await add({ name: 'lost' }, { name: 'order' }, { name: 'order' })
	await happenedBefore(pool, 13)
	await pool.query(`update event_tallies set day = day - interval '13 months'`)
	t.is(await dropPartitions(pool, 365), 3)
	await add({ name: 'order' }, { name: 'order', createdAt: new Date(Date.now() + 60_000) })
	t.deepEqual(await get('/events/stats'), [
		{ name: 'order', count: 4 },
		{ name: 'lost', count: 1 },
	])

	const remove = async (name: string) => (await call('DELETE', `/events/${name}`)).json()
	t.deepEqual(await remove('order'), { deletedCount: 1 })
	t.like(await get('/events/order/usage'), { totalCount: 1 })
	const holder = await pool.connect()
	await holder.query('begin; select pg_advisory_xact_lock(42)')
	await pool.query(`create function stop_here() returns trigger language plpgsql as $$ begin
		perform pg_advisory_xact_lock_shared(42);
		return new;
	end $$`)
	await pool.query(
		'create trigger stop_here before insert on event_tallies for each row execute function stop_here()',
	)
	const answers = Promise.all([1, 2, 3].map(() => remove('lost')))
	await lockWaits(t, pool, 3)
	await holder.query('commit')
	holder.release()
	t.deepEqual(
		await answers,
		[1, 2, 3].map(() => ({ deletedCount: 0 })),
	)
	t.deepEqual(await get('/events/stats'), [{ name: 'order', count: 1 }])
	await add({ name: 'lost' })
	t.deepEqual(await get('/events/names'), { eventNames: ['lost', 'order'] })
})

test('a month stays until all its mails are settled', async (t) => {
	const { pool, send } = await setupLedger(t)
	await splitIntoMonths(pool, 13, 12)
	await send(['ann@example.org'])
	await pool.query(`update emails set status = 'UNCERTAIN'`)
	await happenedBefore(pool, 13)
	t.is(await dropPartitions(pool, 300), 3)
	const [month] = monthsFrom(-13, -13)
	t.true((await partitionsOf(pool, 'emails')).includes(`emails_${month}`))
	t.true((await partitionsOf(pool, 'events')).includes(`events_${month}`))
	await pool.query(`update emails set status = 'PENDING'`)
	t.is(await dropPartitions(pool, 300), 0)
	await pool.query(`update emails set status = 'FAILED'`)
	t.is(await dropPartitions(pool, 300), 3)
	t.is((await pool.query('select from emails')).rowCount, 0)
})

test('nobody waits while a month is removed, and an interrupted removal is finished later', async (t) => {
	const { pool, send } = await setupLedger(t)
	await splitIntoMonths(pool, 13)
	const reader = await pool.connect()
	await reader.query('begin; select from emails; select from attempts; select from events')
	const removal = dropPartitions(pool, 365)
	const isDetaching = async () => {
		const { rows } = await pool.query<{ pid: number }>(
			`select pid from pg_stat_activity where datname = current_database() and query like 'alter table%concurrently'`,
		)
		return rows[0]?.pid
	}
	t.true(await until(async () => (await isDetaching()) !== undefined, 10_000))
	const client = await pool.connect()
	await client.query(`set lock_timeout = '100ms'; set statement_timeout = '1s'`)
	await client.query(`insert into templates (project_id, name, subject, body, "from")
		select id, 'a', 'b', 'c', 'us@example.com' from projects`)
	await client.query('select from emails union all select from attempts')
	client.release(true)
	t.is((await send(['ann@example.org'])).length, 1)

	const rejected = t.throwsAsync(removal)
	await pool.query('select pg_terminate_backend($1)', [await isDetaching()])
	await rejected
	await turnsEnded(t, pool)
	await reader.query('rollback')
	reader.release()
	t.is(await dropPartitions(pool, 365), 3)
	t.is((await pool.query('select from emails')).rowCount, 1)
})

test('an interrupted removal is finished before that of an earlier month begins', async (t) => {
	const { pool, send } = await setupLedger(t)
	await splitIntoMonths(pool, 14, 13)
	await send(['ann@example.org'])
	await pool.query(`update emails set status = 'UNCERTAIN'`)
	await happenedBefore(pool, 14)
	const reader = await pool.connect()
	await reader.query('begin; select from emails')
	const rejected = t.throwsAsync(dropPartitions(pool, 300))
	const detaching = `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and query like 'alter table emails detach%concurrently'
			and wait_event_type = 'Lock'`
	t.true(await until(async () => (await pool.query(detaching)).rowCount === 1, 10_000))
	await rejected
	await turnsEnded(t, pool)
	await reader.query('rollback')
	reader.release()
	await pool.query(`update emails set status = 'FAILED'`)
	t.is(await dropPartitions(pool, 300), 6)
	const months = monthsFrom(-14, -13).map((month) => `emails_${month}`)
	t.deepEqual(
		(await partitionsOf(pool, 'emails')).filter((name) => months.includes(name)),
		[],
	)
})
