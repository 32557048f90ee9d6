import { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import test, { type ExecutionContext } from 'ava'
import { automationActivities } from '../activities/automations/automations.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import {
	delayStep,
	mailStep,
	setupExecutions,
	type Sketch,
	waitStep,
} from './helpers/executions.ts'
import { quiet, workflowBundle } from './helpers/workflow.ts'

// The time-skipping server has one clock for all, so its tests take turns. The database's clock is not
// affected: an execution sleeps by Temporal's.
const serial = test.serial
const dayMs = 86_400_000

serial('a journey of eleven months and a wait of five years take exactly as long', async (t) => {
	const fiveYears = 157_680_000
	const { run, mails, visits } = await setupRun(t, {
		on: 'signed-up',
		steps: [
			mailStep,
			delayStep(30, 'days'),
			mailStep,
			delayStep(300, 'days'),
			waitStep('renewed', fiveYears),
			mailStep,
			['EXIT', { reason: 'Gone' }],
		],
		ways: [
			[0, 1],
			[1, 2],
			[2, 3],
			[3, 4],
			[4, 5],
			[5, 6, 'event'],
			[5, 7, 'timeout'],
		],
	})
	const { result, tookMs } = await run()
	t.is(result, 'EXITED: Gone')
	t.is((await mails()).length, 2)
	t.true(tookMs >= 330 * dayMs + fiveYears * 1000)
	t.true(tookMs < 330 * dayMs + fiveYears * 1000 + 60_000)
	t.is((await visits()).at(-1), 'EXIT COMPLETED')
})

serial('a path of ten steps leaves at most sixty events of history', async (t) => {
	const condition = { field: 'contact.subscribed', operator: 'equals', value: true }
	const update = { data: { seen: '{{ event.product }}' }, subscribed: null }
	const { run, visits } = await setupRun(t, {
		on: 'signed-up',
		steps: [
			mailStep,
			delayStep(3, 'days'),
			['CONDITION', condition],
			mailStep,
			waitStep('bought', 3600),
			['UPDATE_CONTACT', update],
			delayStep(1, 'hours'),
			mailStep,
			delayStep(2, 'minutes'),
			['EXIT', { reason: null }],
		],
		ways: [
			[0, 1],
			[1, 2],
			[2, 3],
			[3, 4, 'yes'],
			[4, 5],
			[5, 6, 'timeout'],
			[6, 7],
			[7, 8],
			[8, 9],
			[9, 10],
		],
	})
	const { events } = await run()
	t.is((await visits()).length, 11)
	t.true(events <= 60, `${events} events`)
	t.log(`${events} events`)
})

serial(
	'an event ends a wait of years at once, and signals that are early, late or twice do no harm',
	async (t) => {
		const { run, track, select, mails, executions } = await setupRun(t, {
			on: 'signed-up',
			steps: [waitStep('bought', 157_680_000), mailStep, waitStep('bought'), mailStep],
			ways: [
				[0, 1],
				[1, 2, 'event'],
				[2, 3],
				[3, 4],
			],
		})
		const { tookMs } = await run(async (signal, waitsAt) => {
			await signal({ visit: 4 })
			await waitsAt(2)
			await track('bought', { product: 'Tea' })
			const [told] = await select<{ payload: { argument: { visit: number } } }>(
				`select payload from outbox where kind = 'signal'`,
			)
			await signal(told!.payload.argument)
			await signal(told!.payload.argument)
			await waitsAt(4)
			t.is((await mails()).length, 1)
			await track('bought', { product: 'Coffee' })
			await signal({ visit: 4 })
		})
		t.true(tookMs < dayMs)
		t.deepEqual(
			(await mails()).map(({ body }) => body),
			['<p>Tea</p>', '<p>Coffee</p>'],
		)
		t.is((await executions())[0]!.status, 'COMPLETED')
	},
)

type Signal = (argument: { visit: number }) => Promise<void>

/** An execution and its run, with real activities on a real database, on a time-skipping server. */
async function setupRun(t: ExecutionContext, sketch: Sketch) {
	quiet()
	const context = await setupExecutions(t)
	const { pool, project, services, select, executionId } = context
	await context.contact()
	await context.freeze(sketch)
	await context.track(sketch.on!, { product: 'none' })
	const env = await TestWorkflowEnvironment.createTimeSkipping({
		server: {
			executable: { type: 'existing-path', path: process.env['TEMPORAL_TEST_SERVER_PATH']! },
		},
	})
	t.teardown(() => env.teardown())
	const connection = env.nativeConnection
	const activities = automationActivities({
		...services,
		pool,
		callPool: pool,
		temporal: env.client,
		stopping: new AbortController().signal,
		settings: { ...services.settings, webhooks: { dnsServers: [], allowPrivate: true } },
	})
	const id = await executionId()
	const args = [{ projectId: project.id, executionId: id }]
	const workflowId = `automation/${id}`

	async function waitsAt(visit: number) {
		for (const deadline = Date.now() + 30_000; ;) {
			const [found] = await select(
				'select from executions where visit = $1 and wait_event_name is not null',
				[visit],
			)
			if (found) return
			if (Date.now() > deadline) throw new Error(`it does not wait at visit ${visit}`)
			await new Promise((resolve) => setTimeout(resolve, 50))
		}
	}

	return {
		...context,
		async run(during: (signal: Signal, at: typeof waitsAt) => Promise<void> = async () => {}) {
			const [core, calls] = await Promise.all([
				Worker.create({
					connection,
					taskQueue: taskQueues.core,
					workflowBundle: await workflowBundle(),
					activities,
				}),
				Worker.create({ connection, taskQueue: taskQueues.calls, activities }),
			])
			const { workflow } = env.client
			const result = await core.runUntil(() =>
				calls.runUntil(async () => {
					const options = { taskQueue: taskQueues.core, workflowId, args }
					const handle = await workflow.start('automation', options)
					await during((argument) => handle.signal('eventArrived', argument), waitsAt)
					return handle.result() as Promise<string>
				}),
			)
			const handle = workflow.getHandle(workflowId)
			const { startTime, closeTime } = await handle.describe()
			const { events } = await handle.fetchHistory()
			return {
				result,
				tookMs: closeTime!.getTime() - startTime.getTime(),
				events: events!.length,
			}
		},
	}
}
