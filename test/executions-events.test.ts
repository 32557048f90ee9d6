import test from 'ava'
import { statements } from '../db/statement.ts'
import {
	delayStep,
	mailStep,
	setupExecutions,
	type StepSketch,
	waitStep,
} from './helpers/executions.ts'
import { partitionsOf, splitIntoMonths } from './helpers/months.ts'

test('an event starts an execution that mails, sleeps and mails again, and each step is recorded', async (t) => {
	const { freeze, contact, track, executions, advance, mails, select, outbox } =
		await setupExecutions(t)
	await contact('ann@example.org', { name: 'Ann' })
	await freeze({ on: 'bought', steps: [mailStep, delayStep(1, 'days'), mailStep] })
	t.is((await track('bought', { product: 'Tea' })).statusCode, 200)

	const [execution] = await executions()
	t.like(execution, { status: 'RUNNING', visit: 0 })
	const [start] = await outbox('start')
	t.is(start!.workflow_id, `automation/${execution!.id}`)
	t.is(start!.summary, 'Welcome, version 1')

	t.like(await advance(execution!.id), { do: 'SLEEP', visit: 3, ms: 86_400_000 })
	t.like((await executions())[0], { status: 'WAITING', visit: 3 })
	t.like((await mails())[0], { subject: 'Hello Ann', status: 'PENDING', body: '<p>Tea</p>' })

	t.like(await advance(execution!.id, 3), { do: 'END', about: 'COMPLETED' })
	t.is((await mails()).length, 2)
	t.is((await select('select from queued_sends')).length, 2)
	t.like((await executions())[0], { status: 'COMPLETED', visit: 4, wakes_at: null })
	const visits = await select<{ type: string; status: string }>(
		'select type, status from execution_steps order by visit',
	)
	t.deepEqual(
		visits.map(({ type, status }) => `${type} ${status}`),
		['TRIGGER COMPLETED', 'SEND_EMAIL COMPLETED', 'DELAY COMPLETED', 'SEND_EMAIL COMPLETED'],
	)
})

test('asked again after a crash, it answers the same stop and does nothing twice', async (t) => {
	const { freeze, contact, track, executionId, advance, mails } = await setupExecutions(t)
	await contact()
	await freeze({ on: 'bought', steps: [mailStep, delayStep(1, 'hours'), mailStep] })
	await track('bought')
	const id = await executionId()
	const first = await advance(id)
	const again = await advance(id)
	t.is(again.do, 'SLEEP')
	t.is((again as { visit: number }).visit, (first as { visit: number }).visit)
	t.true((again as { ms: number }).ms > 3_590_000)
	t.is((await mails()).length, 1)
	await advance(id, 3)
	t.deepEqual(await advance(id, 3), { do: 'END', about: 'COMPLETED' })
	t.is((await mails()).length, 2)
})

test('an event wakes each waiting execution once, and becomes its current event', async (t) => {
	const { freeze, contact, track, executionId, advance, mails, outbox } = await setupExecutions(t)
	await contact()
	await freeze({ on: 'signed-up', steps: [waitStep('bought', 60), mailStep] })
	await track('signed-up', { product: 'none' })
	const id = await executionId()
	t.like(await advance(id), { do: 'WAIT', visit: 2, ms: 60_000 })

	await track('looked')
	t.is((await outbox('signal')).length, 0)
	await track('bought', { product: 'Tea' })
	await track('bought', { product: 'Coffee' })
	const signals = await outbox('signal')
	t.deepEqual(
		signals.map(({ workflow_id, payload }) => [workflow_id, payload]),
		[[`automation/${id}`, { name: 'eventArrived', argument: { visit: 2 } }]],
	)
	t.like(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
	t.is((await mails())[0]!.body, '<p>Tea</p>')
})

test('the event that started an execution does not end its first wait, and no event ends two waits', async (t) => {
	const { freeze, contact, track, executionId, advance } = await setupExecutions(t)
	await contact()
	await freeze({
		on: 'bought',
		steps: [waitStep('bought', null, 'start'), waitStep('bought', null, 'start'), mailStep],
	})
	await track('bought')
	const id = await executionId()
	t.like(await advance(id), { do: 'WAIT', visit: 2, ms: null })
	await track('bought')
	t.like(await advance(id, 2), { do: 'WAIT', visit: 3 })
	await track('bought')
	t.like(await advance(id, 3), { do: 'END' })
})

test('a wait that times out takes the other branch, and a later event changes nothing', async (t) => {
	const { freeze, contact, track, executions, executionId, advance, outbox, select } =
		await setupExecutions(t)
	await contact()
	await freeze({
		on: 'signed-up',
		steps: [waitStep('bought', 60), mailStep, ['EXIT', { reason: 'Never bought' }]],
		ways: [
			[0, 1],
			[1, 2, 'event'],
			[1, 3, 'timeout'],
		],
	})
	await track('signed-up')
	const id = await executionId()
	await advance(id)
	t.deepEqual(await advance(id, 2), { do: 'END', about: 'EXITED: Never bought' })
	await track('bought')
	t.is((await outbox('signal')).length, 0)
	t.like((await executions())[0], { status: 'EXITED', exit_reason: 'Never bought' })
	const [wait] = await select<{ output: object }>(
		`select output from execution_steps where type = 'WAIT_FOR_EVENT'`,
	)
	t.deepEqual(wait!.output, { timedOut: true })
})

test('an event counts from when it was written, however long its transaction has been open', async (t) => {
	const { freeze, contact, track, executionId, advance, pool, project, select } =
		await setupExecutions(t)
	const contactId = await contact()
	await freeze({
		on: 'signed-up',
		steps: [delayStep(1), waitStep('bought', 60, 'start'), mailStep],
	})
	const chunk = await pool.connect()
	t.teardown(() => chunk.release())
	await chunk.query('begin')
	const { rows } = await chunk.query<{ now: Date }>('select now()')
	await track('signed-up')
	const id = await executionId()
	await advance(id)
	const [execution] = await select<{ started_at: Date }>('select started_at from executions')
	t.true(rows[0]!.now < execution!.started_at)
	await chunk.query(`insert into events (project_id, name, contact_id) values ($1, 'bought', $2)`, [
		project.id,
		contactId,
	])
	await chunk.query('commit')
	t.like(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
})

test('an event that was written before the execution began is none of its own', async (t) => {
	const { freeze, contact, track, executionId, advance } = await setupExecutions(t)
	await contact()
	await freeze({ on: 'signed-up', steps: [waitStep('bought', 60, 'start'), mailStep] })
	await track('bought')
	await track('signed-up')
	t.like(await advance(await executionId()), { do: 'WAIT' })
})

test('a wait reads no events of months that ended before it counts them', async (t) => {
	const { freeze, contact, track, executionId, advance, pool, project } = await setupExecutions(t)
	await splitIntoMonths(pool, 4, 3, 2, 1)
	await contact()
	await freeze({ on: 'signed-up', steps: [waitStep('bought', 60), mailStep] })
	await track('signed-up')
	const id = await executionId()
	await advance(id)
	const tablesRead = async (since: Date) => {
		const { rows } = await pool.query({
			text: `explain (analyze, format json) ${statements.get('event-since')!.text}`,
			values: [project.id, id, 'bought', since, []],
		})
		const plan = JSON.stringify(rows[0]['QUERY PLAN'])
		return (await partitionsOf(pool, 'events')).filter((name) => plan.includes(`"${name}"`))
	}
	const all = await partitionsOf(pool, 'events')
	t.is(all.length, 7)
	t.deepEqual(await tablesRead(new Date(0)), all)
	const since = Date.now()
	const month = new Date(since - 3_600_000).toISOString().slice(0, 7).replace('-', '_')
	t.deepEqual(
		await tablesRead(new Date(since)),
		all.filter((name) => name >= `events_${month}`),
	)
	await track('bought')
	t.like(await advance(id), { do: 'END', about: 'COMPLETED' })
})

for (const { how, limits, leastMoves } of [
	// A slow machine needs several moves.
	{ how: 'in moves of any time', limits: [], leastMoves: 1 },
	{ how: 'in moves of 40 events', limits: [Infinity, 40], leastMoves: 8 },
] as const)
	test(`a loop of waits takes all events of a backlog, and waits for the next, ${how}`, async (t) => {
		const { freeze, contact, track, executions, executionId, advance, pool } =
			await setupExecutions(t)
		await contact('ann@example.org')
		const note: StepSketch = ['UPDATE_CONTACT', { data: {}, subscribed: null }]
		await freeze({
			on: 'joined',
			steps: [waitStep('page'), note],
			ways: [
				[0, 1],
				[1, 2, 'event'],
				[2, 1],
			],
		})
		await track('joined')
		const id = await executionId()
		await advance(id)
		t.like((await executions())[0], { status: 'WAITING', visit: 2 })
		await pool.query(`insert into events (project_id, name, contact_id, created_at)
			select project_id, 'page', id, clock_timestamp() + n * interval '1 ms' from contacts, generate_series(1, 300) n`)
		let moves = 1
		while ((await advance(id, 0, ...limits)).do === 'SLEEP') moves++
		t.like((await executions())[0], { status: 'WAITING', error: null, visit: 602 })
		t.true(moves >= leastMoves, `${moves} moves`)
	})
