import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import test from 'ava'
import { taskQueues } from '../workflows/task-queues.ts'
import { runningStack } from './helpers/running-stack.ts'
import { withWorkers } from './helpers/workflow.ts'

test('calls of servers that do not answer leave mail its slots', async (t) => {
	const emailSlots = 2
	const allHang = Promise.withResolvers<void>()
	const answered = Promise.withResolvers<void>()
	let hanging = 0
	const activities = {
		advanceExecution: async (_: object, done: number) =>
			done === 0
				? { do: 'CALL', about: 'calls', visit: 1 }
				: { do: 'END', about: 'COMPLETED', visit: 2 },
		async performStep() {
			if (++hanging === emailSlots) allHang.resolve()
			await answered.promise
		},
		deliverClaimAtOnce: async () => null,
		deliverClaim: async () => ({ settled: 1, left: 0, waitMs: 0, because: '' }),
	}
	await withWorkers(
		activities,
		async ({ workflow }) => {
			const run = (type: string, argument: object) =>
				workflow.execute(type, {
					taskQueue: taskQueues.core,
					workflowId: `${type}/${randomUUID()}`,
					args: [argument],
				})
			const executions = Array.from({ length: emailSlots }, (_, i) =>
				run('automation', { projectId: 'project', executionId: `${i}` }),
			)
			await allHang.promise
			const mail = run('send', { claimId: 'claim' })
			t.is(await Promise.race([mail, sleep(10_000, 'waits for a slot')]), '1 mail is settled')
			answered.resolve()
			t.deepEqual(await Promise.all(executions), ['COMPLETED', 'COMPLETED'])
		},
		emailSlots,
	)
})

test('executions that wait for their turn leave mail its slots', async (t) => {
	const mayMove = Promise.withResolvers<void>()
	const activities = {
		advanceExecution: async () => ({ do: 'QUEUE' }),
		async advanceInTurn() {
			await mayMove.promise
			return { do: 'END', about: 'COMPLETED' }
		},
		deliverClaimAtOnce: async () => null,
		deliverClaim: async () => ({ settled: 1, left: 0, waitMs: 0, because: '' }),
	}
	await withWorkers(activities, async ({ workflow }) => {
		const run = (type: string, argument: object) =>
			workflow.execute(type, {
				taskQueue: taskQueues.core,
				workflowId: `${type}/${randomUUID()}`,
				args: [argument],
			})
		const executions = Array.from({ length: 200 }, (_, i) =>
			run('automation', { projectId: 'project', executionId: `${i}` }),
		)
		t.is(await run('send', { claimId: 'claim' }), '1 mail is settled')
		mayMove.resolve()
		t.true((await Promise.all(executions)).every((end) => end === 'COMPLETED'))
	})
})

test('a worker takes the calls of steps from their queue, and from that of mail, as earlier releases left them', async (t) => {
	t.timeout(120_000)
	const { stack } = await runningStack(t)
	const connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS']! })
	t.teardown(() => connection.close())
	const { activity } = new Client({ connection, namespace: stack.namespace })
	const ofNobody = { projectId: randomUUID(), executionId: randomUUID() }
	const calls = [taskQueues.calls, taskQueues.email].map((taskQueue) =>
		activity.execute('performStep', {
			id: randomUUID(),
			taskQueue,
			args: [ofNobody, 1],
			scheduleToCloseTimeout: '20 seconds',
		}),
	)
	await t.notThrowsAsync(Promise.all(calls))
})
