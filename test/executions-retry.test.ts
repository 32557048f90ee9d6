import test, { type ExecutionContext } from 'ava'
import { failExecution } from '../db/executions/execution-advancing.ts'
import {
	delayStep,
	mailStep,
	setupExecutions,
	type StepSketch,
	waitStep,
} from './helpers/executions.ts'
import { lockWaits } from './helpers/locks.ts'

type Select = Awaited<ReturnType<typeof setupExecutions>>['select']

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

test('a step that failed after a delay is retried without another delay, and the delay keeps no error', async (t) => {
	const { timePasses, fail, retry, visits, select } = await waitingAt(t, delayStep(1, 'days'))
	await timePasses()
	await fail()
	t.deepEqual(await visits(), ['TRIGGER COMPLETED', 'DELAY FAILED'])
	t.deepEqual(await retry(), { do: 'END', about: 'COMPLETED' })
	t.deepEqual(await visits(), ['TRIGGER COMPLETED', 'DELAY COMPLETED', 'SEND_EMAIL COMPLETED'])
	t.deepEqual(await select(`select error from execution_steps where type = 'DELAY'`), [
		{ error: null },
	])
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

test('a step that failed after a timed-out wait is retried without another wait, and the wait keeps no error', async (t) => {
	const { timePasses, fail, retry, select } = await waitingAt(t, waitStep('bought', 60))
	await timePasses()
	await fail()
	t.deepEqual(await retry(), { do: 'END', about: 'COMPLETED' })
	t.deepEqual(
		await select(`select output, error from execution_steps where type = 'WAIT_FOR_EVENT'`),
		[{ output: { timedOut: true }, error: null }],
	)
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

/** An automation that may be entered again, with one failed execution for each address. */
async function withFailures(t: ExecutionContext, addresses: string[]) {
	const context = await setupExecutions(t)
	const id = await context.freeze({ reentry: true, steps: [waitStep('bought', 60)] })
	const start = async (contactId: string) => {
		const answer = await context.call('POST', `/workflows/${id}/executions`, { contactId })
		t.is(answer.statusCode, 201, answer.body)
		return answer.json<{ id: string }>().id
	}
	const fail = (executionId: string) =>
		failExecution(context.pool, { projectId: context.project.id, executionId, error: 'no' })
	const failed = []
	for (const email of addresses) {
		const contactId = await context.contact(email)
		const executionId = await start(contactId)
		await context.advance(executionId)
		await fail(executionId)
		failed.push({ contactId, executionId })
	}
	await context.select('delete from outbox')
	return {
		...context,
		id,
		start,
		fail,
		failed,
		retryFailed: async () => {
			const answer = await context.call('POST', `/workflows/${id}/executions/retry-failed`)
			t.is(answer.statusCode, 200, answer.body)
			return answer.json<{ retried: number }>().retried
		},
		statuses: async () => (await context.executions()).map(({ status }) => status),
	}
}

test('all failed executions of a workflow are retried at once, each at its failed step', async (t) => {
	const context = await withFailures(t, ['ann@example.org', 'ben@example.org'])
	const other = await context.freeze({ steps: [waitStep('bought', 60)], name: 'Other' })
	const { contactId } = context.failed[0]!
	const started = await context.call('POST', `/workflows/${other}/executions`, { contactId })
	await context.fail(started.json<{ id: string }>().id)
	await context.select('delete from outbox')

	t.is(await context.retryFailed(), 2)
	t.deepEqual(await context.statuses(), ['RUNNING', 'RUNNING', 'FAILED'])
	const starts = await context.outbox('start')
	t.deepEqual(
		starts.map(({ workflow_id }) => workflow_id),
		context.failed.map(({ executionId }) => `automation/${executionId}`),
	)
	for (const { executionId } of context.failed)
		t.like(await context.advance(executionId), { do: 'WAIT', visit: 3 })
	t.is(await context.retryFailed(), 0)
})

test('a retry of all leaves out deleted contacts and those with an active execution, and takes the newest of others', async (t) => {
	const context = await withFailures(t, ['ann@example.org', 'ben@example.org', 'cem@example.org'])
	const [ann, ben, cem] = context.failed
	t.is((await context.call('DELETE', `/contacts/${ann!.contactId}`)).statusCode, 204)
	const active = await context.start(ben!.contactId)
	const newer = await context.start(cem!.contactId)
	await context.fail(newer)
	t.is(await context.retryFailed(), 1)
	const of = new Map((await context.executions()).map(({ id, status }) => [id, status]))
	t.is(of.get(ann!.executionId), 'FAILED')
	t.is(of.get(ben!.executionId), 'FAILED')
	t.is(of.get(active), 'RUNNING')
	t.is(of.get(cem!.executionId), 'FAILED')
	t.is(of.get(newer), 'RUNNING')
})

/** Failed executions of an automation that may be entered again, of other contacts. */
const addFailures = (select: Select, projectId: string, automationId: string, count: number) =>
	select(
		`with c as (
			insert into contacts (project_id, email, subscribed)
			select $1::uuid, n || '@example.org', true from generate_series(1, $3::int) n
			returning id
		)
		insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status, completed_at)
		select $1::uuid, $2::uuid, 1, id, true, 'FAILED', now() from c`,
		[projectId, automationId, count],
	)

test('a retry of all never retries an older execution of a contact after its newest has ended again', async (t) => {
	const context = await withFailures(t, ['ann@example.org', 'ben@example.org'])
	const { id, pool, project, select, failed, start, fail } = context
	const [ann, ben] = failed
	// The newest ones are a page of 1,000.
	await addFailures(select, project.id, id, 999)
	const newest = await start(ann!.contactId)
	await fail(newest)
	const db = await pool.connect()
	await db.query('begin')
	await db.query('select from contacts where id = $1 for update', [ben!.contactId])

	const retrying = context.retryFailed()
	await lockWaits(t, pool, 1)
	await select(`update executions set status = 'COMPLETED', completed_at = now() where id = $1`, [
		newest,
	])
	await db.query('commit')
	db.release()
	t.is(await retrying, 1001)
	const of = new Map((await context.executions()).map(({ id, status }) => [id, status]))
	t.is(of.get(newest), 'COMPLETED')
	t.is(of.get(ann!.executionId), 'FAILED')
	t.is(of.get(ben!.executionId), 'RUNNING')
})

test('retries of one and of all at the same time never make two executions of a contact active', async (t) => {
	const context = await withFailures(t, ['ann@example.org'])
	const { contactId, executionId } = context.failed[0]!
	for (let round = 0; round < 10; round++) {
		const newer = await context.start(contactId)
		await context.fail(newer)
		const [one] = await Promise.all([
			context.call('POST', `/workflows/${context.id}/executions/${executionId}/retry`),
			context.retryFailed(),
		])
		t.true([200, 409].includes(one.statusCode), one.body)
		const active = (await context.executions()).filter(({ status }) => status === 'RUNNING')
		t.is(active.length, 1)
		await context.fail(active[0]!.id)
	}
})

test('twenty thousand failed executions are retried within seconds, in pages', async (t) => {
	const { freeze, call, select, project } = await setupExecutions(t)
	const id = await freeze({ steps: [waitStep('bought', 60)] })
	await select(
		`insert into contacts (project_id, email, subscribed)
		select $1, n || '@example.org', true from generate_series(1, 20000) n`,
		[project.id],
	)
	await select(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status, completed_at)
		select $1, $2, 1, id, false, 'FAILED', now() from contacts where project_id = $1`,
		[project.id, id],
	)
	const startedAt = Date.now()
	const answer = await call('POST', `/workflows/${id}/executions/retry-failed`)
	const seconds = (Date.now() - startedAt) / 1000
	t.deepEqual(answer.json(), { retried: 20_000 })
	t.true(seconds < 15, `${seconds} s`)
	t.log(`${seconds} s`)
	const [left] = await select<{ n: number }>(
		`select count(*)::int as n from executions where status <> 'RUNNING'`,
	)
	t.is(left!.n, 0)
	const [queued] = await select<{ n: number }>(
		`select count(*)::int as n from outbox where workflow_type = 'automation'`,
	)
	t.is(queued!.n, 20_000)
})
