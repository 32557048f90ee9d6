import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import type { Client } from '@temporalio/client'
import { startRelay } from '../db/outbox/relay.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { setupSend } from './helpers/send.ts'

test('mail does not wait for the search for webhooks that are due', async (t) => {
	const { send, pool } = await setupSend(t)
	const started: string[] = []
	const temporal = {
		withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
		workflow: { getHandle: () => ({}), start: async (type: string) => void started.push(type) },
	} as unknown as Client
	const log = { warn: (fields: object, message: string) => t.log(message, fields) }
	// Only that search reads this table.
	const locking = await pool.connect()
	await locking.query('begin; lock table webhook_batches in access exclusive mode')
	const relay = startRelay({ pool, temporal, workflowTaskQueue: taskQueues.core, log })
	try {
		t.is((await send({ to: 'ann@example.org' })).statusCode, 200)
		relay.wake()
		for (let i = 0; i < 250 && started.length === 0; i++) await sleep(20)
		t.deepEqual(started, ['send'])
	} finally {
		await locking.query('rollback')
		locking.release()
		await relay.stop()
	}
})
