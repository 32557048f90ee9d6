import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import type { Client } from '@temporalio/client'
import { until } from '../bench/load.ts'
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

test('while Temporal takes nothing, what waits for it is not hurried through', async (t) => {
	const { pool, project } = await setupSend(t)
	await pool.query(
		`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, task_queue, payload)
		select $1, 'start', 3, 'automation', 'automation/' || n, 'core', '{}' from generate_series(1, 1000) n`,
		[project.id],
	)
	let calls = 0
	const temporal = {
		withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
		workflow: {
			getHandle: () => ({}),
			start: async () => {
				calls += 1
				throw new Error('Temporal is away')
			},
		},
	} as unknown as Client
	const relay = startRelay({
		pool,
		temporal,
		workflowTaskQueue: taskQueues.core,
		log: { warn() {} },
	})
	const beganAt = performance.now()
	t.true(await until(async () => calls >= 100, 20_000))
	const ms = performance.now() - beganAt
	await relay.stop()
	// Fifty at once, and then not before the next second.
	t.true(ms > 500, `${calls} calls in ${ms} ms`)
})
