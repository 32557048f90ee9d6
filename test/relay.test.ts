import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Client } from '@temporalio/client'
import { until } from '../bench/load.ts'
import { priorities } from '../db/outbox/outbox.ts'
import { startRelay } from '../db/outbox/relay.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { setupSend } from './helpers/send.ts'
import { withWorkers } from './helpers/workflow.ts'

test('mail does not wait for the search for webhooks that are due', async (t) => {
	const { send, pool } = await setupSend(t)
	const started: string[] = []
	const temporal = temporalWith(async (type) => void started.push(type))
	// Only that search reads this table.
	const locking = await pool.connect()
	await locking.query('begin; lock table webhook_batches in access exclusive mode')
	const relay = relayOf(t, { pool, temporal })
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

test('a send that takes long to start delays no other', async (t) => {
	const { send, pool } = await setupSend(t)
	const started: string[] = []
	const answer = Promise.withResolvers<void>()
	const temporal = temporalWith(async (_type, { workflowId }) => {
		started.push(workflowId)
		if (started.length === 1) await answer.promise
	})
	const relay = relayOf(t, { pool, temporal })
	try {
		for (const count of [1, 2]) {
			t.is((await send({ to: `ann-${count}@example.org` })).statusCode, 200)
			relay.wakeSends()
			t.true(await until(async () => started.length === count, 5000))
		}
		t.is(new Set(started).size, 2)
	} finally {
		answer.resolve()
		await relay.stop()
	}
})

test('a transactional send begins with the answer to its start, and others wait in their queue', async (t) => {
	const { send, pool, project } = await setupSend(t)
	const [atOnce, inTurn] = [priorities.transactional, priorities.bulk]
	const { body } = await send({ to: 'ann@example.org' })
	t.is(JSON.parse(body).success, true)
	await pool.query(
		`insert into queued_sends (project_id, request_id, priority, email_ids)
		values ($1, uuidv7(), $2, array[uuidv7()])`,
		[project.id, inTurn],
	)
	const { rows } = await pool.query<{ id: string; priority: number }>(
		`select request_id as id, priority from queued_sends`,
	)
	const settled = { settled: 1, left: 0, waitMs: 0, because: '' }
	const begunAtOnce = await withWorkers(
		{ deliverClaimAtOnce: async () => settled },
		async (temporal, workersClient) => {
			const relay = relayOf(t, { pool, temporal, workersClient: () => workersClient })
			try {
				relay.wake()
				const begun = new Map<number, boolean>()
				for (const { id, priority } of rows) {
					const run = temporal.workflow.getHandle(`send/${id}`)
					const isThere = () =>
						run.describe().then(
							() => true,
							() => false,
						)
					t.true(await until(isThere, 20_000))
					t.is(await run.result(), '1 mail is settled')
					const [first] = (await run.fetchHistory()).events!
					const { eagerExecutionAccepted } = first!.workflowExecutionStartedEventAttributes!
					begun.set(priority, Boolean(eagerExecutionAccepted))
				}
				return begun
			} finally {
				await relay.stop()
			}
		},
	)
	t.deepEqual(
		begunAtOnce,
		new Map([
			[atOnce, true],
			[inTurn, false],
		]),
	)
})

test('a start that is not answered in time is made over another connection, in the same try', async (t) => {
	const { send, pool } = await setupSend(t)
	const never = Promise.withResolvers<void>()
	let calls = 0
	let ordinary = 0
	const workersClient = temporalWith(() => {
		calls += 1
		return never.promise
	})
	const temporal = temporalWith(async () => void ordinary++)
	t.is((await send({ to: 'ann@example.org' })).statusCode, 200)
	const relay = relayOf(t, { pool, temporal, workersClient: () => workersClient })
	const done = `select from outbox where workflow_type = 'send' and done_at is not null`
	const isDone = async () => (await pool.query(done)).rowCount === 1
	try {
		relay.wakeSends()
		t.true(await until(isDone, 20_000))
		t.is(ordinary, 1)
		// A second try would have asked the workers again.
		t.is(calls, 1)
	} finally {
		await relay.stop()
		never.resolve()
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
	const temporal = temporalWith(async () => {
		calls += 1
		throw new Error('Temporal is away')
	})
	const relay = relayOf(t, { pool, temporal, log: { warn() {} } })
	const beganAt = performance.now()
	t.true(await until(async () => calls >= 100, 20_000))
	const ms = performance.now() - beganAt
	await relay.stop()
	// Fifty at once, and then not before the next second.
	t.true(ms > 500, `${calls} calls in ${ms} ms`)
})

/** Temporal, as far as a relay needs it for starts. */
const temporalWith = (start: (type: string, options: { workflowId: string }) => Promise<void>) =>
	({
		withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
		workflow: { getHandle: () => ({}), start },
	}) as unknown as Client

type Services = Parameters<typeof startRelay>[0]

const relayOf = (
	t: ExecutionContext,
	services: Omit<Services, 'workflowTaskQueue' | 'log'> & Partial<Services>,
) =>
	startRelay({
		workflowTaskQueue: taskQueues.core,
		log: { warn: (fields, message) => t.log(message, fields) },
		...services,
	})
