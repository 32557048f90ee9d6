import test, { type ExecutionContext } from 'ava'
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { until } from '../bench/load.ts'
import { listenToOutbox, othersWaitMs } from '../db/outbox/outbox-listening.ts'
import { tellRelays } from '../db/outbox/telling.ts'
import { poolOf } from '../db/statement.ts'
import { startHeartbeat } from '../db/worker-heartbeat.ts'
import { viaProxy } from './helpers/app.ts'
import { setupSend } from './helpers/send.ts'

test('an API wakes the relays of the workers: for sends, or for all rows', async (t) => {
	const { pool, woken, log } = await setupListening(t)
	const telling = tellRelays({ pool, log })
	telling.wakeSends()
	t.true(await until(async () => woken.sends === 1, 10_000))
	t.is(woken.all, 0)
	telling.wake()
	t.true(await until(async () => woken.all === 1, 10_000))
	t.is(woken.sends, 1)
})

test('each message has a number, so that workers take turns', async (t) => {
	const { pool } = await setupSend(t)
	const numbers: number[] = []
	const listening = listenToOutbox({
		pool,
		relay: { wake() {}, wakeSends() {} },
		reactsFirst: (number) => numbers.push(number) > 0,
		log: { warn() {} },
	})
	t.teardown(() => listening.stop())
	const telling = tellRelays({ pool, log: { warn() {} } })
	const isHeard = async () => {
		telling.wakeSends()
		return numbers.length > 0
	}
	t.true(await until(isHeard, 10_000))
	numbers.length = 0
	for (const kind of ['wakeSends', 'wake', 'wakeSends'] as const) {
		await telling.stop()
		telling[kind]()
	}
	t.true(await until(async () => numbers.length >= 3, 10_000))
	const [first] = numbers
	t.deepEqual(numbers.slice(0, 3), [first, first! + 1, first! + 2])
	// A trigger's message has that of its connection.
	const { rows } = await pool.query(`select pg_backend_pid() as pid, pg_notify('outbox', '')`)
	t.true(await until(async () => numbers.includes(rows[0].pid), 10_000))
})

test('a burst of requests takes few messages, and they cover the last request', async (t) => {
	const { pool, woken, log } = await setupListening(t)
	const telling = tellRelays({ pool, log })
	for (let i = 0; i < 1000; i++) telling.wakeSends()
	await telling.stop()
	// One for the first, and one for those that came while it was on its way.
	t.true(await until(async () => woken.sends >= 2, 10_000))
	telling.wake()
	await telling.stop()
	t.true(await until(async () => woken.all === 1, 10_000))
	t.is(woken.sends, 2)
})

test('an API goes on telling the workers after the database was away', async (t) => {
	const { orm, woken, warnings, log } = await setupListening(t)
	const distant = await viaProxy(t, orm)
	const telling = tellRelays({ pool: await poolOf(distant.orm.em), log })
	distant.cut()
	telling.wakeSends()
	t.true(await until(async () => warnings.length === 1, 30_000))
	t.is(warnings[0], 'the workers could not be told')
	await distant.mend()
	telling.wakeSends()
	t.true(await until(async () => woken.sends === 1, 10_000))
})

test('a connection that has fallen silent keeps no later message back', async (t) => {
	const { pool, woken, warnings, log } = await setupListening(t)
	let isSilent = true
	const query = (...given: Parameters<Pool['query']>) =>
		isSilent ? new Promise(() => {}) : pool.query(...given)
	const telling = tellRelays({ pool: { query } as unknown as Pool, log })
	telling.wakeSends()
	t.true(await until(async () => warnings.length === 1, 10_000))
	isSilent = false
	telling.wakeSends()
	t.true(await until(async () => woken.sends === 1, 10_000))
})

test('one worker reacts to a message at once, and the others a moment later', async (t) => {
	const { pool, woken, log } = await setupListening(t, [false, true, false])
	const telling = tellRelays({ pool, log })
	const shortest = [Infinity, Infinity, Infinity]
	const isDone = async () => {
		const told = timersNow()
		const sends = woken.sends + 3
		telling.wakeSends()
		t.true(await until(async () => woken.sends === sends, 10_000))
		for (const [place, time] of woken.times.entries())
			shortest[place] = Math.min(shortest[place]!, time - told)
		return sends >= 30 && shortest[1]! < othersWaitMs
	}
	t.true(await until(isDone, 30_000), shortest.join())
	t.true(shortest[0]! >= othersWaitMs && shortest[2]! >= othersWaitMs, shortest.join())
})

test('a worker that is not the first looks a few times during a burst', async (t) => {
	const { pool, woken, log } = await setupListening(t, [false])
	const telling = tellRelays({ pool, log })
	const told = performance.now()
	for (let i = 0; i < 100; i++) {
		telling.wakeSends()
		await telling.stop()
	}
	const most = Math.ceil((performance.now() - told) / othersWaitMs)
	t.true(await until(async () => woken.sends > 0, 10_000))
	t.true(woken.sends <= most, `${woken.sends} times, not ${most}`)
})

test('of live workers, one is the first to react to a message, and each has its share', async (t) => {
	const { pool } = await setupSend(t)
	const heartbeats: Awaited<ReturnType<typeof startHeartbeat>>[] = []
	for (let i = 0; i < 3; i++) heartbeats.push(await startHeartbeat(pool, randomUUID()))
	t.teardown(() => Promise.all(heartbeats.map((heartbeat) => heartbeat.stop())))
	const messages = [0, 1, 2, 3, 4, 5]
	const firsts = (message: number) =>
		heartbeats.filter(({ reactsFirst }) => reactsFirst(message)).length
	const known = async () => messages.every((message) => firsts(message) === 1)
	const shares = () =>
		heartbeats.map(({ reactsFirst }) => messages.filter((message) => reactsFirst(message)).length)
	// Those that came first hear of the others with their next beat.
	t.true(await until(known, 10_000))
	t.deepEqual(shares(), [2, 2, 2])
	await heartbeats.pop()!.stop()
	t.true(await until(known, 10_000))
	t.deepEqual(shares(), [3, 3])
})

/** In whole milliseconds, as timers count them: by a finer clock, they may be early. */
const timersNow = () => Number(process.hrtime.bigint() / 1_000_000n)

/** Relays that listen as in workers, and count how they are woken. By default, there is one. */
async function setupListening(t: ExecutionContext, reactFirst = [true]) {
	const context = await setupSend(t)
	/** With the time at which each relay was last woken. */
	const woken = { all: 0, sends: 0, times: [] as number[] }
	const warnings: string[] = []
	const log = { warn: (_: object, message: string) => void warnings.push(message) }
	for (const [place, isFirst] of reactFirst.entries()) {
		const wokenFor = (what: 'all' | 'sends') => () => {
			woken[what]++
			woken.times[place] = timersNow()
		}
		const listening = listenToOutbox({
			pool: context.pool,
			relay: { wake: wokenFor('all'), wakeSends: wokenFor('sends') },
			reactsFirst: () => isFirst,
			log,
		})
		t.teardown(() => listening.stop())
	}
	// They look at once when they listen.
	t.true(await until(async () => woken.all === reactFirst.length, 10_000))
	woken.all = 0
	return { ...context, woken, warnings, log }
}
