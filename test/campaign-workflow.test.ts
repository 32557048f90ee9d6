import { randomUUID } from 'node:crypto'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import type { WorkflowHandle } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import test, { type ExecutionContext } from 'ava'
import type { Rest } from '../activities/delivery/delivery.ts'
import { emailQueueOf, taskQueues } from '../workflows/task-queues.ts'
import { quiet, workflowBundle } from './helpers/workflow.ts'

const hourMs = 3_600_000
const sums = { total: 100, settled: 0, said: 'in words' }
const wait = (waitMs: number | null) => ({ act: 'wait', waitMs })
const end = { act: 'end' }
const done: Rest = { settled: 50, left: 0, waitMs: 0, because: '' }

// The time-skipping server has one clock for all, so its tests take turns.
const serial = test.serial

serial('a scheduled campaign asks for its next act when its time has come', async (t) => {
	const { calls, tookMs } = await run(t, {
		advance: [
			wait(30 * 24 * hourMs),
			wait(hourMs),
			{ act: 'materialise' },
			{ act: 'send', lanes: 1 },
			end,
		],
	})
	t.deepEqual(calls, [
		'advance',
		'advance',
		'advance',
		'materialise',
		'advance',
		'send 0',
		'advance',
	])
	t.true(tookMs >= 30 * 24 * hourMs + hourMs)
})

serial('every change is handled at once, even during a long wait', async (t) => {
	const { calls, tookMs } = await run(
		t,
		{ advance: [wait(1000 * hourMs), wait(null), { act: 'cancel' }, end] },
		async (handle, asked) => {
			await asked(1)
			await handle.signal('changed')
			await asked(2)
			await handle.signal('changed')
		},
	)
	t.deepEqual(calls, ['advance', 'advance', 'advance', 'cancel', 'advance'])
	t.true(tookMs < hourMs)
})

serial(
	'lanes send while the audience is being frozen, however many turns that takes',
	async (t) => {
		const { calls } = await run(t, {
			advance: [{ act: 'materialise', lanes: 2 }, end],
			materialise: [false, false, true],
		})
		t.is(calls.at(-1), 'advance')
		t.deepEqual(calls.slice(1, -1).toSorted(), [
			'materialise',
			'materialise',
			'materialise',
			'send 0',
			'send 1',
		])
	},
)

serial('lanes go side by side, each until it is done', async (t) => {
	const more = (waitMs: number): Rest => ({ settled: 10, left: 5, waitMs, because: 'not due yet' })
	const { calls, tookMs } = await run(t, {
		advance: [{ act: 'send', lanes: 3 }, end],
		send: [more(0), done, more(2 * hourMs), done, done],
	})
	t.deepEqual(calls.slice(1, 4).toSorted(), ['send 0', 'send 1', 'send 2'])
	t.is(calls.filter((call) => call.startsWith('send')).length, 5)
	t.is(calls.at(-1), 'advance')
	t.true(tookMs >= 2 * hourMs)
})

serial('a change ends the lanes after their mails in hand', async (t) => {
	const { calls, tookMs } = await run(
		t,
		{
			advance: [{ act: 'send', lanes: 1 }, { act: 'cancel' }, end],
			send: [{ settled: 1, left: 9, waitMs: 1000 * hourMs, because: 'Connection refused' }],
		},
		async (handle, asked) => {
			await asked(2)
			await handle.signal('changed')
		},
	)
	t.deepEqual(calls, ['advance', 'send 0', 'advance', 'cancel', 'advance'])
	t.true(tookMs < hourMs)
})

serial('where nothing moves it is asked every few seconds, not all the time', async (t) => {
	const idle: Rest = {
		settled: 0,
		left: 3,
		waitMs: 0,
		because: 'another worker is delivering them',
	}
	const turns = Array.from({ length: 20 }, () => ({ act: 'send', lanes: 1 }))
	const { tookMs } = await run(t, {
		advance: [...turns, end],
		send: turns.map(() => idle),
	})
	t.true(tookMs >= 40_000, `${tookMs} ms`)
})

serial('a database or provider that fails for hours is tried until it works', async (t) => {
	const away = Array.from({ length: 700 }, () => new Error('Connection terminated unexpectedly'))
	const { calls, tookMs, said } = await run(t, {
		advance: [
			{ act: 'send', lanes: 1 },
			{ ...end, said: 'sent' },
		],
		send: [...away, done],
	})
	t.is(calls.length, 703)
	t.true(tookMs > 1.9 * hourMs && tookMs < 2.1 * hourMs, `${tookMs} ms`)
	t.is(said, 'sent: 0 of 100 settled')
})

serial('a long run continues as a new one, and the rest is sent', async (t) => {
	const page: Rest = { settled: 1, left: 1, waitMs: 0, because: '' }
	const send = { act: 'send', lanes: 2 }
	const { calls, said, wasContinued } = await run(t, {
		advance: [send, send, { ...end, said: 'sent' }],
		send: Array.from({ length: 1000 }, () => page),
	})
	t.true(wasContinued)
	t.is(said, 'sent: 0 of 100 settled')
	t.is(calls.filter((call) => call === 'advance').length, 3)
	t.is(calls.length, 3 + 1000 + 2)
})

serial(
	'a campaign whose recipients can never be created is paused until its owner acts',
	async (t) => {
		const { calls } = await run(
			t,
			{
				advance: [{ act: 'materialise' }, wait(null), { act: 'materialise' }, end],
				materialise: [ApplicationFailure.nonRetryable('out of range', 'Postgres 22003')],
			},
			async (handle, asked) => {
				await asked(4)
				await handle.signal('changed')
			},
		)
		t.deepEqual(calls, [
			'advance',
			'materialise',
			'hold',
			'advance',
			'advance',
			'materialise',
			'advance',
		])
	},
)

serial('every live worker gets its share of the lanes', async (t) => {
	const { calls } = await run(t, {
		advance: [{ act: 'send', lanes: 4, workers: ['a', 'b'] }, end],
		workers: ['a', 'b'],
	})
	t.deepEqual(calls.toSorted(), [
		'advance',
		'advance',
		'send 0 by a',
		'send 1 by b',
		'send 2 by a',
		'send 3 by b',
	])
})

serial('the lanes of a worker that has gone away are sent by others', async (t) => {
	const { calls, tookMs } = await run(t, {
		advance: [{ act: 'send', lanes: 2, workers: ['a', 'gone'] }, end],
		workers: ['a'],
	})
	t.deepEqual(calls.toSorted(), ['advance', 'advance', 'send 0 by a', 'send 1'])
	t.true(tookMs < 10_000)
})

serial('a lane that fails at its worker is sent by any worker', async (t) => {
	const { calls } = await run(t, {
		advance: [{ act: 'send', lanes: 2, workers: ['a', 'b'] }, end],
		workers: ['a', 'b'],
		send: [new Error('lost'), new Error('lost')],
	})
	t.deepEqual(calls.toSorted(), [
		'advance',
		'advance',
		'send 0',
		'send 0 by a',
		'send 1',
		'send 1 by b',
	])
})

serial('a worker that comes later takes part from the next turn on', async (t) => {
	const rest = { settled: 50, left: 50, waitMs: 0, because: '', workers: ['a', 'b'] }
	const { calls } = await run(t, {
		advance: [{ act: 'send', lanes: 2, workers: ['a'] }, end],
		workers: ['a', 'b'],
		send: [rest, rest],
	})
	t.deepEqual(calls.toSorted(), [
		'advance',
		'advance',
		'send 0',
		'send 0 by a',
		'send 1',
		'send 1 by b',
	])
})

interface Script {
	/** The queues of single workers. */
	workers?: string[]
	advance: object[]
	send?: (Rest | Error)[]
	materialise?: (Error | boolean)[]
}

/** Runs `campaign` with activities that answer from lists, on a time-skipping server. */
async function run(
	t: ExecutionContext,
	script: Script,
	meanwhile: (
		handle: WorkflowHandle,
		asked: (times: number) => Promise<void>,
	) => Promise<void> = async () => {},
) {
	quiet()
	const env = await TestWorkflowEnvironment.createTimeSkipping({
		server: {
			executable: { type: 'existing-path', path: process.env['TEMPORAL_TEST_SERVER_PATH']! },
		},
	})
	t.teardown(() => env.teardown())
	const calls: string[] = []
	const [advances, sends] = [script.advance.values(), (script.send ?? []).values()]
	const freezes = (script.materialise ?? []).values()
	const note = (call: string) => async () => void calls.push(call)
	const sendLane =
		(by: string) =>
		async ({ lane }: { lane: number }) => {
			calls.push(`send ${lane}${by}`)
			const answer = sends.next().value ?? done
			if (answer instanceof Error) throw answer
			return answer
		}
	const activities = {
		async advanceCampaign() {
			calls.push('advance')
			return { ...sums, ...advances.next().value }
		},
		sendCampaignPages: sendLane(''),
		async materialiseCampaign() {
			calls.push('materialise')
			const answer = freezes.next().value ?? true
			if (answer instanceof Error) throw answer
			return answer
		},
		cancelRecipients: note('cancel'),
		holdCampaign: note('hold'),
	}
	const connection = env.nativeConnection
	const workers = await Promise.all([
		Worker.create({
			connection,
			taskQueue: taskQueues.core,
			workflowBundle: await workflowBundle(),
			activities,
		}),
		Worker.create({ connection, taskQueue: taskQueues.email, activities }),
		Worker.create({ connection, taskQueue: taskQueues.bulk, activities }),
		...(script.workers ?? []).map((worker) =>
			Worker.create({
				connection,
				taskQueue: emailQueueOf(worker),
				activities: { sendCampaignPages: sendLane(` by ${worker}`) },
			}),
		),
	])
	const workflowId = `campaign/${randomUUID()}`
	const asked = async (times: number) => {
		while (calls.length < times) await new Promise((resolve) => setTimeout(resolve, 20))
	}
	let firstRunId = ''
	const whole = async () => {
		const handle = await env.client.workflow.start('campaign', {
			taskQueue: taskQueues.core,
			workflowId,
			args: [{ projectId: 'project', campaignId: 'campaign' }],
		})
		await meanwhile(handle, asked)
		firstRunId = handle.firstExecutionRunId
		return handle.result() as Promise<string>
	}
	const said = await workers.reduce(
		(work, worker) => () => worker.runUntil(work),
		whole as () => Promise<string>,
	)()
	const last = await env.client.workflow.getHandle(workflowId).describe()
	const tookMs = last.closeTime!.getTime() - last.startTime.getTime()
	return { calls, said, tookMs, wasContinued: last.runId !== firstRunId }
}
