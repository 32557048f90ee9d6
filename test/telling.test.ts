import test, { type ExecutionContext } from 'ava'
import { until } from '../bench/load.ts'
import { listenToOutbox } from '../db/outbox/outbox-listening.ts'
import { tellRelays } from '../db/outbox/telling.ts'
import { poolOf } from '../db/statement.ts'
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

/** A relay that listens as in a worker, and counts how it is woken. */
async function setupListening(t: ExecutionContext) {
	const context = await setupSend(t)
	const woken = { all: 0, sends: 0 }
	const relay = { wake: () => void woken.all++, wakeSends: () => void woken.sends++ }
	const warnings: string[] = []
	const log = { warn: (_: object, message: string) => void warnings.push(message) }
	const listening = listenToOutbox(context.pool, relay, log)
	t.teardown(() => listening.stop())
	// It looks at once when it listens.
	t.true(await until(async () => woken.all === 1, 10_000))
	woken.all = 0
	return { ...context, woken, warnings, log }
}
