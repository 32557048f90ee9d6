import test from 'ava'
import { createGate } from '../activities/delivery/gate.ts'

test('one project gets at most three quarters of the slots, so another still gets in', async (t) => {
	const gate = createGate(20)
	t.is(await gate.enter('greedy', 50), 15)
	t.is(await gate.enter('modest', 1), 1)
	t.is(await gate.enter('third', 50), 4)
})

test('first come, first served', async (t) => {
	const gate = createGate(4)
	t.is(await gate.enter('a', 3), 3)
	t.is(await gate.enter('b', 1), 1)
	const served: string[] = []
	const wait = (name: string) => gate.enter(name, 1).then(() => served.push(name))
	const waiting = [wait('c'), wait('d'), wait('e')]
	gate.answered('a', 3)
	await Promise.all(waiting)
	t.deepEqual(served, ['c', 'd', 'e'])
})

test('a kill leaves at most three mails per connection in doubt: unrecorded mails stop the rest', async (t) => {
	const gate = createGate(4)
	let unrecorded = 0
	let isFull = false
	while (!isFull) {
		const slots = await Promise.race([
			gate.enter('a', 3),
			new Promise<0>((no) => setTimeout(no, 20, 0)),
		])
		isFull = slots === 0
		unrecorded += slots
		gate.answered('a', slots)
	}
	t.is(unrecorded, 12)
	gate.recorded('a', 12)
})

test('a small provider can still be used by one project', async (t) => {
	t.is(await createGate(1).enter('a', 5), 1)
})

/** Hands mails of a project over, as fast as it may, for long enough to be measured. */
async function measured(gate: ReturnType<typeof createGate>, project: string) {
	const until = performance.now() + 100
	while (performance.now() < until) await handOver(gate, project, await gate.enter(project, 50))
}

async function handOver(gate: ReturnType<typeof createGate>, project: string, mails: number) {
	for (let i = 0; i < mails; i++) {
		await gate.connection(project)
		gate.answered(project, 1)
	}
	gate.recorded(project, mails)
}

test('with a fast provider, mails are opened before they have a connection', async (t) => {
	const gate = createGate(4)
	t.is(await gate.enter('a', 50), 3)
	await handOver(gate, 'a', 3)
	await measured(gate, 'a')
	const opened = await gate.enter('a', 50)
	t.true(opened > 3)
	t.true(opened <= 12)
})

test('however many mails it has opened, a project uses three quarters of the connections', async (t) => {
	const gate = createGate(4)
	await measured(gate, 'a')
	const opened = await gate.enter('a', 50)
	let connected = 0
	for (let i = 0; i < opened; i++) void gate.connection('a').then(() => (connected += 1))
	await gate.connection('b')
	t.is(connected, 3)
	gate.answered('a', 1)
	await new Promise((resolve) => setImmediate(resolve))
	t.is(connected, 4)
})

test('with a fast provider, a single slot is not granted to a run that wants many', async (t) => {
	const gate = createGate(4)
	await measured(gate, 'a')
	const opened = await gate.enter('a', 50)
	let granted = 0
	const next = gate.enter('a', 50).then((slots) => (granted = slots))
	// Without a turn of the event loop, so that the wait for several slots can't end meanwhile.
	for (let i = 0; i < opened && granted === 0; i++) await handOver(gate, 'a', 1)
	t.true((await next) > 1)
})
