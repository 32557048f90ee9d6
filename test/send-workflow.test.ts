import { randomUUID } from 'node:crypto'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import test, { type ExecutionContext } from 'ava'
import type { FirstRest } from '../activities/delivery/deliveries.ts'
import type { Rest } from '../activities/delivery/delivery.ts'
import { emailQueueOf, taskQueues } from '../workflows/task-queues.ts'
import { quiet, workflowBundle } from './helpers/workflow.ts'

const settled: Rest = { settled: 2, left: 0, waitMs: 0, because: '' }

// The time-skipping server has one clock for all, so its tests take turns.
const serial = test.serial

serial('a run ends when all mails of its claim are settled', async (t) => {
	const { calls } = await runSend(t, [settled])
	t.deepEqual(calls, ['at once'])
})

serial('a worker with too many first passes leaves the mails to its queue', async (t) => {
	const { calls } = await runSend(t, [null, settled])
	t.deepEqual(calls, ['at once', 'claim'])
})

serial('the worker of a long first pass goes on with it', async (t) => {
	const { calls } = await runSend(t, [{ ...settled, left: 1, worker: 'here' }, settled])
	t.deepEqual(calls, ['at once', 'here: claim'])
})

serial('if the worker of a long first pass is gone, any other takes over', async (t) => {
	const { calls } = await runSend(t, [{ ...settled, left: 1, worker: 'gone' }, settled])
	t.deepEqual(calls, ['at once', 'claim'])
})

serial('a wait of three days is slept through, without asking in between', async (t) => {
	const threeDaysMs = 3 * 24 * 3_600_000
	const { calls, tookMs } = await runSend(t, [
		{ settled: 1, left: 3, waitMs: threeDaysMs, because: 'Connection refused' },
		settled,
	])
	t.deepEqual(calls, ['at once', 'claim'])
	t.true(tookMs >= threeDaysMs)
})

serial('a stopping worker leaves its mails to others at once', async (t) => {
	const handedOn = { settled: 1, left: 3, waitMs: 0, because: 'another worker continues' }
	const { calls, tookMs } = await runSend(t, [handedOn, settled])
	t.deepEqual(calls, ['at once', 'claim'])
	t.true(tookMs < 60_000)
})

serial('a database that is away is tried again for as long as it takes', async (t) => {
	const away = new Error('Connection terminated unexpectedly')
	const { calls, tookMs } = await runSend(t, [...Array.from({ length: 12 }, () => away), settled])
	t.is(calls.length, 13)
	t.true(tookMs > 30_000 && tookMs < 120_000, `${tookMs} ms, with pauses of ten seconds at most`)
})

/** Runs `send` with an activity that answers from a list, on a time-skipping server. */
async function runSend(t: ExecutionContext, script: (FirstRest | Error | null)[]) {
	quiet()
	const env = await TestWorkflowEnvironment.createTimeSkipping({
		server: {
			executable: { type: 'existing-path', path: process.env['TEMPORAL_TEST_SERVER_PATH']! },
		},
	})
	t.teardown(() => env.teardown())
	const calls: string[] = []
	const answers = script.values()
	async function answer(call: string) {
		calls.push(call)
		const next = answers.next().value
		if (next instanceof Error) throw next
		return next
	}
	const connection = env.nativeConnection
	const [core, email, here] = await Promise.all([
		Worker.create({
			connection,
			taskQueue: taskQueues.core,
			workflowBundle: await workflowBundle(),
			activities: { deliverClaimAtOnce: () => answer('at once') },
		}),
		Worker.create({
			connection,
			taskQueue: taskQueues.email,
			activities: { deliverClaim: answer },
		}),
		Worker.create({
			connection,
			taskQueue: emailQueueOf('here'),
			activities: { deliverClaim: (claimId: string) => answer(`here: ${claimId}`) },
		}),
	])
	const workflowId = `send/${randomUUID()}`
	const args = [{ claimId: 'claim' }]
	const execution = () =>
		env.client.workflow.execute('send', { taskQueue: taskQueues.core, workflowId, args })
	await core.runUntil(() => email.runUntil(() => here.runUntil(execution)))
	const { startTime, closeTime } = await env.client.workflow.getHandle(workflowId).describe()
	return { calls, tookMs: closeTime!.getTime() - startTime.getTime() }
}
