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
	gate.recorded(12)
})

test('a small provider can still be used by one project', async (t) => {
	t.is(await createGate(1).enter('a', 5), 1)
})
