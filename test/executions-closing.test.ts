import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { startRelay } from '../db/outbox/relay.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { setupExecutions, waitStep } from './helpers/executions.ts'
import { withWorkers } from './helpers/workflow.ts'

test('no run of an ended execution stays open because the run that closes them was about to end', async (t) => {
	const { pool, project, select, freeze, contact, track, call } = await setupExecutions(t)
	const id = await freeze({ on: 'x', reentry: true, steps: [waitStep('never')] })
	await contact()
	const cancel = async () => {
		await track('x')
		const answer = await call('POST', `/workflows/${id}/executions/cancel-all`)
		t.deepEqual(answer.json(), { cancelled: 1 })
	}
	let looks = 0
	const looking = Promise.withResolvers<void>()
	const closeRuns = async () => {
		looks += 1
		if (looks === 1) await looking.promise
		return { closed: 1, isLast: true }
	}
	await withWorkers({ closeRuns }, async (client) => {
		const log = { warn: (fields: object, message: string) => t.log(message, fields) }
		const sendTaskQueue = taskQueues.core
		const relay = startRelay({ pool, temporal: client, sendTaskQueue, log })
		const until = async (isSo: () => boolean | Promise<boolean>) => {
			for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(20))
				if (await isSo()) return
			t.fail('It never was so')
		}
		const told = `select from outbox where workflow_type = 'closeExecutions' and done_at is null`
		const tell = async () => {
			relay.wake()
			await until(async () => (await select(told)).length === 0)
		}
		const closing = client.workflow.getHandle(`close/${project.id}`)
		try {
			await cancel()
			await tell()
			await until(() => looks === 1)
			// The answer that these were the last is on its way.
			await cancel()
			await tell()
			looking.resolve()
			t.is(await closing.result(), '2 runs are closed')
			t.is(looks, 2)

			await cancel()
			await tell()
			await closing.result()
			t.true(looks > 2)
		} finally {
			looking.resolve()
			await relay.stop()
		}
	})
})
