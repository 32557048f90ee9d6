import test, { type ExecutionContext } from 'ava'
import { hopLimit } from '../db/automations/automation-interpreter.ts'
import { failExecution } from '../db/executions/execution-advancing.ts'
import {
	mailStep,
	setupExecutions,
	type Sketch,
	type StepSketch,
	waitStep,
} from './helpers/executions.ts'

const update = (data: object): StepSketch => ['UPDATE_CONTACT', { data, subscribed: null }]
const isPro = { field: 'data.plan', operator: 'equals', value: 'pro' }

/** An execution whose every move has time for one step. */
async function setupSlow(t: ExecutionContext, sketch: Sketch, subscribed = true) {
	const context = await setupExecutions(t)
	const { freeze, contact, track, executionId, advance } = context
	await contact('ann@example.org', {}, subscribed)
	const workflow = await freeze({ on: 'x', ...sketch })
	await track('x')
	const id = await executionId()
	/** As its workflow does, up to a stop that is no rest. Returns the moves that it took. */
	async function move(done = 0) {
		for (let moves = 1; ; moves++) {
			const stop = await advance(id, done, 0)
			if (stop.do !== 'SLEEP' || stop.ms > 0) return { stop, moves }
			done = stop.visit
		}
	}
	return { ...context, workflow, id, move }
}

test('a move that takes long is continued by further moves, each step once and on its branch', async (t) => {
	const { move, mails, visits, executions } = await setupSlow(t, {
		steps: [update({ plan: 'pro' }), ['CONDITION', isPro], mailStep, update({ n: 1 }), mailStep],
		ways: [
			[0, 1],
			[1, 2],
			[2, 3, 'yes'],
			[2, 4, 'no'],
			[3, 5],
		],
	})
	const { stop, moves } = await move()
	t.like(stop, { do: 'END', about: 'COMPLETED' })
	t.is(moves, 6)
	t.is((await mails()).length, 2)
	t.deepEqual(await visits(), [
		'TRIGGER COMPLETED',
		'UPDATE_CONTACT COMPLETED',
		'CONDITION COMPLETED',
		'SEND_EMAIL COMPLETED',
		'SEND_EMAIL COMPLETED',
	])
	t.is((await executions())[0]!.status, 'COMPLETED')
})

test('between two moves of a long path, repeated calls, cancellations and events count as ever', async (t) => {
	const { advance, id, move, mails, pool, track } = await setupSlow(t, {
		steps: [update({ n: 1 }), waitStep('paid'), mailStep, mailStep],
		ways: [
			[0, 1],
			[1, 2],
			[2, 3, 'event'],
			[3, 4],
		],
	})
	t.like(await advance(id, 0, 0), { do: 'SLEEP', visit: 1, ms: 0 })
	await track('paid')
	t.like(await advance(id, 0, 0), { do: 'SLEEP', visit: 2 }, 'the answer before was lost')
	t.like(await advance(id, 2, 0), { do: 'SLEEP', visit: 3 }, 'the event was not missed')
	t.like(await advance(id, 3, 0), { do: 'SLEEP', visit: 4 })
	t.is((await mails()).length, 1)
	await pool.query(`update projects set disabled_reason = 'MANUAL'`)
	t.like((await move(4)).stop, { do: 'END', about: 'CANCELLED: Project disabled' })
	t.is((await mails()).length, 1)
})

test('steps of a circle without a pause are counted across moves', async (t) => {
	const { move, executions, visits } = await setupSlow(t, {
		steps: [update({ n: 1 }), update({ n: 2 })],
		ways: [
			[0, 1],
			[1, 2],
			[2, 1],
		],
	})
	t.like((await move()).stop, { do: 'END', about: 'FAILED' })
	t.regex((await executions())[0]!.error!, /LoopDetected/)
	t.is((await visits()).length, hopLimit + 1)
})

const refused = { steps: [mailStep, update({ n: 1 })] }
const onceRefused = ['TRIGGER COMPLETED', 'SEND_EMAIL FAILED', 'UPDATE_CONTACT COMPLETED']

test('a mail that is refused at the end of a move is not tried again by the next move', async (t) => {
	const { advance, id, mails, visits } = await setupSlow(t, refused, false)
	let stop = await advance(id, 0, 0)
	for (let moves = 1; stop.do === 'SLEEP' && moves < 6; moves++)
		stop = await advance(id, stop.visit, 0)
	t.deepEqual(stop, { do: 'END', about: 'COMPLETED' })
	t.is((await mails()).length, 1)
	t.deepEqual(await visits(), onceRefused)
})

test('a retry of an execution that failed after a refused mail does not try the mail again', async (t) => {
	const context = await setupSlow(t, refused, false)
	const { advance, call, id, mails, move, pool, project, select, visits, workflow } = context
	await advance(id, 0, 0)
	t.like(await advance(id, 1, 0), { do: 'SLEEP', visit: 2 })
	await failExecution(pool, { projectId: project.id, executionId: id, error: 'no' })
	await select('update contacts set subscribed = true')
	const answer = await call('POST', `/workflows/${workflow}/executions/${id}/retry`)
	t.is(answer.statusCode, 200, answer.body)
	t.deepEqual((await move()).stop, { do: 'END', about: 'COMPLETED' })
	t.is((await mails()).length, 1)
	t.deepEqual(await visits(), onceRefused)
})

test('refused mails of a circle without a pause are counted across moves', async (t) => {
	const ways: Sketch['ways'] = [
		[0, 1],
		[1, 2],
		[2, 1],
	]
	const sketch = { steps: [mailStep, mailStep], ways }
	const { advance, id, executions, visits } = await setupSlow(t, sketch, false)
	let stop = await advance(id, 0, 0)
	for (let moves = 1; stop.do === 'SLEEP'; moves++)
		stop = await advance(id, stop.visit, moves < 10 ? 0 : undefined)
	t.like(stop, { do: 'END', about: 'FAILED' })
	t.regex((await executions())[0]!.error!, /LoopDetected/)
	t.is((await visits()).length, hopLimit + 1)
})
