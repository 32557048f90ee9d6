import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { Pool } from 'pg'
import { attemptEnd } from '../activities/delivery/attempt-end.ts'
import type { DeliveryServices } from '../activities/delivery/delivery.ts'
import { createRecorder } from '../activities/delivery/recorder.ts'
import { until } from '../bench/load.ts'
import { connecting } from '../db/connecting.ts'
import type { Ended } from '../db/emails/ledger.ts'
import { listenToOutbox } from '../db/outbox/outbox-listening.ts'
import { databaseOf } from '../db/thread-database.ts'
import { setup } from './helpers/app.ts'
import { scriptedProvider } from './helpers/ledger.ts'

const ended: Ended = {
	end: {
		id: '01a2185d-da39-7012-8d9b-03c7762c7639',
		attempt: 1,
		outcome: 'SENT',
		status: 'SENT',
		providerMessageId: null,
	} as Ended['end'],
}

test('an outcome whose first write takes longer than outcomes are kept is written once more', async (t) => {
	let tries = 0
	const recorder = createRecorder({
		gatherMs: 0,
		holdMs: 100,
		async write() {
			tries += 1
			if (tries > 1) return
			await sleep(200)
			throw new Error('Connection terminated unexpectedly')
		},
	})
	await recorder.record([ended], true)
	t.is(tries, 2)
})

test('a machine whose clock is days ahead gives up no mail at its first try', (t) => {
	const { now } = Date
	const { provider } = scriptedProvider()
	const settings = { patienceMs: 3 * 86_400_000 } as DeliveryServices['settings']
	const deferred = { kind: 'DEFERRED', error: '450 Later', retryAfterMs: null } as const
	const mail = { id: ended.end.id, attempt: 1, tried_for_ms: 0 }
	Date.now = () => now() + 4 * 86_400_000
	try {
		t.is(attemptEnd({ provider, settings }, mail, deferred).status, 'PENDING')
		const old = { ...mail, attempt: 8, tried_for_ms: 4 * 86_400_000 }
		t.is(attemptEnd({ provider, settings }, old, deferred).status, 'FAILED')
	} finally {
		Date.now = now
	}
})

test('a database that has fallen silent is noticed, and it notices a machine that has', async (t) => {
	const { pool } = await setup(t)
	const { keepAlive, keepAliveInitialDelayMillis } = pool.options as unknown as Record<
		string,
		unknown
	>
	t.true(keepAlive)
	t.is(keepAliveInitialDelayMillis, 10_000)
	const { rows } = await pool.query(
		`select name, setting from pg_settings where name like 'tcp\\_%' order by name`,
	)
	t.deepEqual(
		rows.map(({ name, setting }) => `${name} ${setting}`),
		[
			'tcp_keepalives_count 3',
			'tcp_keepalives_idle 30',
			'tcp_keepalives_interval 10',
			'tcp_user_timeout 60000',
		],
	)
})

test('a connection can go through a pooler, which takes few settings as it opens', async (t) => {
	const { pool } = await setup(t)
	const database = databaseOf(pool)
	const packets: Buffer[] = []
	const pooler = createServer((client) => {
		client.once('data', (packet) => void packets.push(packet as Buffer))
		const server = connect({ host: database.host!, port: database.port! })
		pipeline(client, server, client, () => {})
	})
	await once(pooler.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => pooler.close())
	const { port } = pooler.address() as AddressInfo
	const through = new Pool({
		...database,
		host: '127.0.0.1',
		port,
		...connecting({ lock_timeout: 2000 }),
	})
	const { rows } = await through.query('show lock_timeout')
	t.deepEqual(rows, [{ lock_timeout: '2s' }])
	await through.end()

	// Its length, its version, and then names and values.
	const stated = packets[0]!.subarray(8).toString().split('\0')
	const names = stated.filter((word, index) => index % 2 === 0 && word !== '')
	t.deepEqual(names.toSorted(), ['client_encoding', 'database', 'user'])
})

const nobody = { wake() {}, wakeSends() {} }

for (const order of ['the connection ends first', 'the answer comes first'])
	test(`a refused LISTEN is tried again, and the process goes on (${order})`, async (t) => {
		let connections = 0
		const connect = async () => {
			connections += 1
			const db = new EventEmitter()
			const fault = new Error('cannot execute LISTEN during recovery')
			return Object.assign(db, {
				async query() {
					if (order === 'the connection ends first') db.emit('error', fault)
					throw fault
				},
				release: () => void db.emit('end'),
			})
		}
		const warnings: string[] = []
		const log = { warn: (_: object, message: string) => void warnings.push(message) }
		const listening = listenToOutbox({
			pool: { connect } as unknown as Pool,
			relay: nobody,
			reactsFirst: () => true,
			log,
		})
		t.true(await until(async () => connections === 2, 10_000))
		await listening.stop()
		t.true(warnings.length >= 1)
	})
