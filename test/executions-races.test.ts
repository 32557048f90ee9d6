import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { delayStep, mailStep, setupExecutions, waitStep } from './helpers/executions.ts'

// Races are forced by holding the lock that decides them.

const waiting = { on: 'signed-up', steps: [waitStep('bought', 60), mailStep] }

/** Holds the contact's row until it is released. */
async function holdContact(t: ExecutionContext, pool: Pool) {
	const db = await pool.connect()
	await db.query('begin')
	await db.query(`select from contacts where email = 'ann@example.org' for no key update`)
	let isHeld = true
	async function letGo() {
		if (!isHeld) return
		isHeld = false
		await db.query('commit')
		db.release()
	}
	t.teardown(letGo)
	return letGo
}

/** Waits until this many sessions wait for a lock in this database. */
async function untilBlocked(pool: Pool, count: number) {
	for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(10)) {
		const { rows } = await pool.query<{ n: number }>(
			`select count(*)::int as n from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock'`,
		)
		if (rows[0]!.n >= count) return
	}
	throw new Error(`${count} sessions were to wait for a lock`)
}

for (const order of ['wait', 'event'] as const)
	test(`an event that arrives while the wait is being written ends it: the ${order} first`, async (t) => {
		const { freeze, contact, track, executionId, advance, outbox, pool } = await setupExecutions(t)
		await contact()
		await freeze(waiting)
		await track('signed-up')
		const id = await executionId()
		const letGo = await holdContact(t, pool)
		const first = order === 'wait' ? advance(id) : track('bought')
		await untilBlocked(pool, 1)
		const second = order === 'wait' ? track('bought') : advance(id)
		await untilBlocked(pool, 2)
		await letGo()
		await Promise.all([first, second])
		t.is((await outbox('signal')).length, order === 'wait' ? 1 : 0)
		t.deepEqual(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
	})

for (const order of ['wait', 'event'] as const)
	test(`that holds where only the matching of events takes the lock, asked by the ${order} first`, async (t) => {
		const { freeze, contact, track, call, executionId, advance, outbox, pool } =
			await setupExecutions(t)
		const contactId = await contact()
		await freeze(waiting)
		await track('signed-up')
		const id = await executionId()
		const tell = () => call('POST', '/events/track', { name: 'bought', contactId })
		const letGo = await holdContact(t, pool)
		const early = order === 'wait' ? advance(id) : tell()
		await untilBlocked(pool, 1)
		const late = order === 'wait' ? tell() : advance(id)
		// Both wait. Postgres decides which comes first when it checks a foreign key.
		await untilBlocked(pool, 2)
		await letGo()
		const answers = await Promise.all([early, late])
		const isWaiting = answers.some((answer) => 'do' in answer && answer.do === 'WAIT')
		t.is((await outbox('signal')).length, isWaiting ? 1 : 0)
		t.deepEqual(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
	})

for (const order of ['event', 'time'] as const)
	test(`of an event and a time-out at once one counts: ${order} first`, async (t) => {
		const { freeze, contact, track, executionId, advance, outbox, pool, select, mails } =
			await setupExecutions(t)
		await contact()
		await freeze({
			...waiting,
			ways: [
				[0, 1],
				[1, 2, 'event'],
			],
		})
		await track('signed-up')
		const id = await executionId()
		await advance(id)
		const letGo = await holdContact(t, pool)
		const first = order === 'event' ? track('bought') : advance(id, 2)
		await untilBlocked(pool, 1)
		const second = order === 'event' ? advance(id, 2) : track('bought')
		await untilBlocked(pool, 2)
		await letGo()
		await Promise.all([first, second])
		const [wait] = await select<{ output: object }>(
			`select output from execution_steps where type = 'WAIT_FOR_EVENT'`,
		)
		if (order === 'event') t.like(wait!.output, { eventName: 'bought' })
		else t.deepEqual(wait!.output, { timedOut: true })
		t.is((await outbox('signal')).length, order === 'event' ? 1 : 0)
		t.deepEqual(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
		t.is((await mails()).length, order === 'event' ? 1 : 0)
	})

test('an event since the stop before counts although it was there before the wait', async (t) => {
	const { freeze, contact, track, executionId, advance } = await setupExecutions(t)
	await contact()
	await freeze({ on: 'signed-up', steps: [delayStep(5), waitStep('bought', 60), mailStep] })
	await track('signed-up')
	const id = await executionId()
	await advance(id)
	await track('bought')
	t.like(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
})

test('an event that arrives before a worker has sent the mail counts for the wait after it', async (t) => {
	const { freeze, contact, track, executionId, advance } = await setupExecutions(t)
	await contact()
	await freeze({ on: 'signed-up', steps: [mailStep, waitStep('bought', 60), mailStep] })
	await track('signed-up')
	await track('bought')
	t.like(await advance(await executionId()), { do: 'END', about: 'COMPLETED' })
})

test('of events that arrive while no worker runs, each ends one of several waits', async (t) => {
	const { freeze, contact, track, executionId, advance } = await setupExecutions(t)
	await contact()
	const wait = waitStep('paid', 60)
	await freeze({ on: 'signed-up', steps: [wait, wait, wait, wait, mailStep] })
	await track('signed-up')
	const id = await executionId()
	t.like(await advance(id), { do: 'WAIT', visit: 2 })
	for (let n = 0; n < 3; n++) {
		await track('paid')
		await sleep(2)
	}
	t.like(await advance(id), { do: 'WAIT', visit: 5 })
	await track('paid')
	t.like(await advance(id), { do: 'END', about: 'COMPLETED' })
})

test('since: step ignores events before the previous stop, since: start does not', async (t) => {
	const { freeze, contact, track, executions, advance } = await setupExecutions(t)
	await contact()
	for (const since of ['step', 'start'])
		await freeze({
			on: 'signed-up',
			steps: [delayStep(5), delayStep(5), waitStep('bought', 60, since), mailStep],
		})
	await track('signed-up')
	const [step, start] = await executions()
	for (const { id } of [step!, start!]) await advance(id)
	await track('bought')
	await sleep(5)
	for (const { id } of [step!, start!]) await advance(id, 2)
	t.like(await advance(step!.id, 3), { do: 'WAIT' })
	t.like(await advance(start!.id, 3), { do: 'END' })
})

test('of many simultaneous events one starts an execution, and with re-entry one at a time', async (t) => {
	const { freeze, contact, track, executions, advance } = await setupExecutions(t)
	await contact()
	await freeze({ on: 'once', steps: [mailStep] })
	await freeze({ on: 'again', steps: [mailStep], reentry: true })
	await Promise.all(Array.from({ length: 15 }, () => Promise.all([track('once'), track('again')])))
	t.is((await executions()).length, 2)
	for (const { id } of await executions()) await advance(id)
	await Promise.all([track('once'), track('again'), track('again')])
	t.is((await executions()).length, 3)
})

test('an event first starts executions, then wakes those that were waiting before it', async (t) => {
	const { freeze, contact, track, executions, advance, outbox } = await setupExecutions(t)
	await contact()
	await freeze({ on: 'bought', steps: [waitStep('bought')], reentry: true, name: 'Itself' })
	await freeze({ on: 'signed-up', steps: [waitStep('bought')], name: 'Other' })
	await track('signed-up')
	const [other] = await executions()
	await advance(other!.id)
	await track('bought')
	const signals = await outbox('signal')
	t.deepEqual(
		signals.map(({ workflow_id }) => workflow_id),
		[`automation/${other!.id}`],
	)
	const begun = (await executions()).find(({ id }) => id !== other!.id)!
	t.like(await advance(begun.id), { do: 'WAIT' })
})

test('deleting a contact ends its executions, however it is deleted', async (t) => {
	const { freeze, contact, track, executions, call, advance, outbox, select } =
		await setupExecutions(t)
	await freeze(waiting)
	for (const name of ['one', 'bulk']) {
		await contact(`${name}@example.org`)
		await track('signed-up', {}, `${name}@example.org`)
	}
	for (const { id } of await executions()) await advance(id)
	const [one] = await executions()
	t.is((await call('DELETE', `/contacts/${one!.contact_id}`)).statusCode, 204)
	await select('delete from contacts')
	for (const { status, exit_reason, wait_event_name, contact_id, id } of await executions()) {
		t.is(status, 'CANCELLED')
		t.is(exit_reason, 'Contact deleted')
		t.is(wait_event_name, null)
		t.is(contact_id, null)
		t.deepEqual(await advance(id, 2), { do: 'END', about: 'CANCELLED' })
	}
	t.is((await outbox('terminate')).length, 2)
	const kept = await select(
		`select from executions x join execution_steps s on s.execution_id = x.id
		where x.event is not null or s.output is not null`,
	)
	t.is(kept.length, 0)
})

test('a contact is deleted while its execution moves, and neither waits for the other for ever', async (t) => {
	const { freeze, contact, track, executionId, call, advance, pool, executions } =
		await setupExecutions(t)
	const contactId = await contact()
	await freeze(waiting)
	await track('signed-up')
	const id = await executionId()
	const letGo = await holdContact(t, pool)
	const advancing = advance(id)
	await untilBlocked(pool, 1)
	const deleting = call('DELETE', `/contacts/${contactId}`)
	await untilBlocked(pool, 2)
	await letGo()
	t.is((await advancing).do, 'WAIT')
	t.is((await deleting).statusCode, 204)
	t.is((await executions())[0]!.status, 'CANCELLED')
})

test('events of a statement for many contacts find each of them', async (t) => {
	const { freeze, track, executions, select, project, outbox } = await setupExecutions(t)
	await freeze({ on: 'segment.vips.entry', steps: [mailStep] })
	await Promise.all(['a', 'b', 'c'].map((name) => track('x', {}, `${name}@example.org`)))
	await select(
		`insert into events (project_id, name, contact_id)
		select $1, name, c.id from contacts c
		cross join unnest(array['segment.vips.entry', 'segment.vips.entry', 'other']) name`,
		[project.id],
	)
	t.is((await executions()).length, 3)
	t.is((await outbox('start')).length, 3)
})

test('a disabled workflow begins nothing, and its executions go on', async (t) => {
	const { freeze, contact, track, executions, executionId, advance, select } =
		await setupExecutions(t)
	await contact()
	await freeze({ ...waiting, reentry: true })
	await track('signed-up')
	const id = await executionId()
	await advance(id)
	await select('update automations set enabled = false')
	await contact('eve@example.org')
	await track('signed-up', {}, 'eve@example.org')
	t.is((await executions()).length, 1)
	await track('bought')
	t.like(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
})

test('of a disabled project executions are cancelled at their next step', async (t) => {
	const { freeze, contact, track, executions, executionId, advance, select } =
		await setupExecutions(t)
	await contact()
	await freeze({ on: 'signed-up', steps: [delayStep(5), mailStep] })
	await track('signed-up')
	const id = await executionId()
	await advance(id)
	await select(`update projects set disabled_reason = 'MANUAL'`)
	t.deepEqual(await advance(id, 2), { do: 'END', about: 'CANCELLED: Project disabled' })
	t.like((await executions())[0], { status: 'CANCELLED', exit_reason: 'Project disabled' })
})
