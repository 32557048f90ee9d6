import test, { type ExecutionContext } from 'ava'
import { createThreads, TaskTooLarge, ThreadsBusy } from '../mail/threads/pool.ts'
import { createTurns } from '../mail/threads/turns.ts'
import type { threadTasks } from './helpers/thread-tasks.ts'

const soon = { key: 'a', limitMs: 60_000 }

function setup(t: ExecutionContext, options: { size?: number; mostWaiting?: number } = {}) {
	const entry = new URL('helpers/thread-tasks.ts', import.meta.url)
	const threads = createThreads<typeof threadTasks>({ entry, size: 2, memoryMb: 64, ...options })
	t.teardown(threads.close)
	return threads
}

test('a task runs on a thread and its result comes back', async (t) => {
	const threads = setup(t)
	t.is(await threads.run('double', 21, soon), 42)
	t.is((await threads.run('bytes', 1000, soon)).raw[999], 7)
})

test('the event loop continues while a task computes', async (t) => {
	const threads = setup(t)
	await threads.run('double', 1, soon)
	let turns = 0
	const ticking = setInterval(() => (turns += 1), 1)
	await threads.run('spin', 500, soon)
	clearInterval(ticking)
	t.true(turns > 20, `${turns} turns`)
})

test('an error of a task arrives with its name and message, and leaves the thread usable', async (t) => {
	const threads = setup(t)
	await t.throwsAsync(threads.run('refuse', 'no', soon), { name: 'RangeError', message: 'no' })
	t.is(await threads.run('double', 1, soon), 2)
})

test('a task that exceeds its time is ended, and the next one gets a new thread', async (t) => {
	const threads = setup(t)
	const endless = threads.run('spin', 3_600_000, { key: 'a', limitMs: 100 })
	await t.throwsAsync(endless, { instanceOf: TaskTooLarge })
	t.is(await threads.run('double', 1, soon), 2)
})

test('a task that exceeds its memory is ended, and the process continues', async (t) => {
	const threads = setup(t)
	await t.throwsAsync(threads.run('hoard', undefined as never, soon), { instanceOf: TaskTooLarge })
	t.is(await threads.run('double', 1, soon), 2)
})

test('a task is not refused for the memory that earlier ones have left in its thread', async (t) => {
	const threads = setup(t)
	t.is(await threads.run('keep', 40, soon), 40)
	t.is(await threads.run('need', 40, soon), 40)
})

test('a task beyond the queue’s limit is refused at once', async (t) => {
	const threads = setup(t, { mostWaiting: 1 })
	const taken = [1, 2, 3].map(() => threads.run('spin', 200, soon))
	await t.throwsAsync(threads.run('double', 1, soon), { instanceOf: ThreadsBusy })
	await Promise.all(taken)
})

test('closing rejects waiting tasks and ends all threads', async (t) => {
	const threads = setup(t)
	const waiting = [1, 2, 3].map(() => threads.run('spin', 50, soon))
	const ends = Promise.allSettled(waiting)
	await threads.close()
	t.is((await ends).at(-1)!.status, 'rejected')
	await t.throwsAsync(threads.run('double', 1, soon))
})

test('keys take turns, however many tasks one of them has', (t) => {
	const turns = createTurns<string>(2)
	for (const job of ['a1', 'a2', 'a3']) turns.add('a', job)
	turns.add('b', 'b1')
	t.deepEqual(
		[1, 2, 3, 4].map(() => turns.next()!.job),
		['a1', 'b1', 'a2', 'a3'],
	)
})

test('keys that have used much time lately leave a thread to the others', (t) => {
	const turns = createTurns<string>(2)
	for (const key of ['a', 'b']) turns.add(key, 'first')
	turns.next()!.end(5000)
	turns.next()!.end(5000)
	for (const key of ['a', 'b']) turns.add(key, `${key}, heavy`)
	const running = turns.next()!
	t.is(turns.next(), undefined)
	turns.add('c', 'c, light')
	t.is(turns.next()!.job, 'c, light')
	running.end(0)
	t.is(turns.next()!.job, 'b, heavy')
})
