import { setTimeout as sleep } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { type Closing, closingActivities } from '../activities/automations/closing.ts'
import { startRelay } from '../db/outbox/relay.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { setupExecutions, waitStep } from './helpers/executions.ts'
import { people, setupSchedule } from './helpers/schedule.ts'
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
		const workflowTaskQueue = taskQueues.core
		const relay = startRelay({ pool, temporal: client, workflowTaskQueue, log })
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
			// A new cancellation arrives while the last page is being answered.
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

test('runs are closed after a cancellation, and runs unknown to Temporal count as closed', async (t) => {
	const { pool, select, call, automationId, project, client } = await setupSchedule(t)
	await people(select, project.id, 120)
	await select(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status)
		select $1, $2, 1, id, false, 'WAITING' from contacts`,
		[project.id, automationId],
	)
	const [one] = await select<{ id: string }>('select id from executions')
	const workflowId = `automation/${one!.id}`
	await client.workflow.start('automation', { workflowId, taskQueue: 'core', args: [{}] })
	const answer = await call('POST', `/workflows/${automationId}/executions/cancel-all`)
	t.deepEqual(answer.json(), { cancelled: 120 })
	const { closeRuns } = closingActivities({
		pool,
		temporal: client,
		stopping: new AbortController().signal,
	})
	t.deepEqual(await new MockActivityEnvironment().run(closeRuns, { projectId: project.id }), {
		closed: 120,
		isLast: true,
	})
	t.is((await select('select from executions where is_closing')).length, 0)
	const { status } = await client.workflow.getHandle(workflowId).describe()
	t.is(status.name, 'TERMINATED')
})

test('closing many runs yields its place after a while, and when its worker stops', async (t) => {
	const { pool, select, automationId, project, client } = await setupSchedule(t)
	await people(select, project.id, 3000)
	await select(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status, is_closing)
		select $1, $2, 1, id, false, 'CANCELLED', true from contacts`,
		[project.id, automationId],
	)
	const left = async () => (await select('select from executions where is_closing')).length
	const close = (stopping: AbortSignal): Promise<Closing> => {
		const { closeRuns } = closingActivities({ pool, temporal: client, stopping })
		return new MockActivityEnvironment().run(closeRuns, { projectId: project.id })
	}
	t.deepEqual(await close(AbortSignal.abort()), { closed: 0, isLast: false })
	const startedAt = Date.now()
	const { closed, isLast }: Closing = await close(new AbortController().signal)
	t.true(Date.now() - startedAt < 45_000)
	t.false(isLast)
	t.true(closed > 0)
	t.is(await left(), 3000 - closed)
})
