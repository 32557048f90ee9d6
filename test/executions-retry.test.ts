import test, { type ExecutionContext } from 'ava'
import { failExecution } from '../db/executions/execution-advancing.ts'
import {
	delayStep,
	mailStep,
	setupExecutions,
	type StepSketch,
	waitStep,
} from './helpers/executions.ts'

/** An execution waiting at the step, with a mail step after it. */
async function waitingAt(t: ExecutionContext, step: StepSketch) {
	const context = await setupExecutions(t)
	await context.contact()
	const id = await context.freeze({
		on: 'signed-up',
		steps: [step, mailStep],
		ways: [
			[0, 1],
			[1, 2],
		],
	})
	await context.track('signed-up')
	const executionId = await context.executionId()
	await context.advance(executionId)
	const path = `/workflows/${id}/executions/${executionId}`
	return {
		...context,
		executionId,
		timePasses: async () => {
			for (const table of ['executions', 'execution_steps'])
				await context.select(`update ${table} set wakes_at = now() - interval '10 seconds'
					where wakes_at is not null`)
		},
		fail: () =>
			failExecution(context.pool, {
				projectId: context.project.id,
				executionId,
				error: 'out of range',
			}),
		path,
		retry: async () => {
			t.is((await context.call('POST', `${path}/retry`)).statusCode, 200)
			return context.advance(executionId)
		},
	}
}

test('a step that failed after a delay is retried without another delay', async (t) => {
	const { timePasses, fail, retry, visits } = await waitingAt(t, delayStep(1, 'days'))
	await timePasses()
	await fail()
	t.deepEqual(await visits(), ['TRIGGER COMPLETED', 'DELAY FAILED'])
	t.deepEqual(await retry(), { do: 'END', about: 'COMPLETED' })
	t.deepEqual(await visits(), ['TRIGGER COMPLETED', 'DELAY COMPLETED', 'SEND_EMAIL COMPLETED'])
})

test('a delay that failed before its time is waited again', async (t) => {
	const { fail, retry } = await waitingAt(t, delayStep(1, 'days'))
	await fail()
	t.like(await retry(), { do: 'SLEEP', visit: 3, ms: 86_400_000 })
})

test('a step that failed after an event is retried with this event', async (t) => {
	const { track, fail, retry, visits, select } = await waitingAt(t, waitStep('bought', 60))
	await track('bought', { product: 'Tea' })
	await fail()
	t.deepEqual(await visits(), ['TRIGGER COMPLETED', 'WAIT_FOR_EVENT WAITING'])
	t.deepEqual(await retry(), { do: 'END', about: 'COMPLETED' })
	const [wait] = await select<{ output: object }>(
		`select output from execution_steps where type = 'WAIT_FOR_EVENT'`,
	)
	t.like(wait!.output, { eventName: 'bought', eventData: { product: 'Tea' } })
})

test('a step that failed after a timed-out wait is retried without another wait', async (t) => {
	const { timePasses, fail, retry, select } = await waitingAt(t, waitStep('bought', 60))
	await timePasses()
	await fail()
	t.deepEqual(await retry(), { do: 'END', about: 'COMPLETED' })
	t.deepEqual(await select(`select output from execution_steps where type = 'WAIT_FOR_EVENT'`), [
		{ output: { timedOut: true } },
	])
})

test('a wait that failed receives events from before its next try', async (t) => {
	const { track, fail, retry, visits } = await waitingAt(t, waitStep('bought', 60))
	await fail()
	await track('bought')
	await retry()
	t.deepEqual((await visits()).slice(1, 3), ['WAIT_FOR_EVENT FAILED', 'WAIT_FOR_EVENT COMPLETED'])
})

test('a failed execution of a deleted contact is not retried, and the answer says so', async (t) => {
	const { fail, call, select, path } = await waitingAt(t, waitStep('bought', 60))
	await fail()
	const [contact] = await select<{ id: string }>('select id from contacts')
	t.is((await call('DELETE', `/contacts/${contact!.id}`)).statusCode, 204)
	t.like((await call('GET', path)).json(), { status: 'FAILED', contactId: null })
	const refused = await call('POST', `${path}/retry`)
	t.is(refused.statusCode, 409)
	t.like(refused.json().error, {
		code: 'CONFLICT',
		message: 'The contact of this execution has been deleted',
	})
})
