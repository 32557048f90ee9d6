import test from 'ava'
import { inGroups } from '../db/groups.ts'

/** Groups that end only when they are released. */
function setup(atOnce = 1, mostItems = 10) {
	const groups: { key: string; items: number[]; end: PromiseWithResolvers<void> }[] = []
	const call = inGroups({
		atOnce,
		mostItems,
		async work(key, items: number[]) {
			const end = Promise.withResolvers<void>()
			groups.push({ key, items, end })
			await end.promise
			return items.map((item) => item * 10)
		},
	})
	return { call, groups, contents: () => groups.map(({ items }) => items) }
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

test('calls of one turn go together, and each gets its own result', async (t) => {
	const { call, groups, contents } = setup()
	const results = Promise.all([call('a', 1), call('a', 2)])
	await turn()
	t.deepEqual(contents(), [[1, 2]])
	groups[0]!.end.resolve()
	t.deepEqual(await results, [10, 20])
})

test('a call never joins a group that has begun', async (t) => {
	const { call, groups, contents } = setup()
	const first = call('a', 1)
	await turn()
	const others = [call('a', 2), call('a', 3)]
	await turn()
	t.deepEqual(contents(), [[1]])
	groups[0]!.end.resolve()
	await first
	await turn()
	t.deepEqual(contents(), [[1], [2, 3]])
	groups[1]!.end.resolve()
	t.deepEqual(await Promise.all(others), [20, 30])
})

test('calls with another key are not held up', async (t) => {
	const { call, groups } = setup()
	const calls = [call('a', 1), call('b', 2)]
	await turn()
	t.deepEqual(
		groups.map(({ key }) => key),
		['a', 'b'],
	)
	for (const { end } of groups) end.resolve()
	t.deepEqual(await Promise.all(calls), [10, 20])
})

test('a group has a largest size', async (t) => {
	const { call, groups, contents } = setup(2, 2)
	const calls = Promise.all([1, 2, 3].map((item) => call('a', item)))
	await turn()
	t.deepEqual(contents(), [[1, 2], [3]])
	for (const { end } of groups) end.resolve()
	t.deepEqual(await calls, [10, 20, 30])
})

test('a group that fails fails its calls only', async (t) => {
	const { call, groups } = setup()
	const first = call('a', 1)
	await turn()
	const second = call('a', 2)
	groups[0]!.end.reject(new Error('lost'))
	await t.throwsAsync(first, { message: 'lost' })
	await turn()
	groups[1]!.end.resolve()
	t.is(await second, 20)
})

test('a group that hangs no longer holds others up', async (t) => {
	const { call, groups, contents } = setup()
	const stuck = call('a', 1)
	await turn()
	const next = call('a', 2)
	while (groups.length < 2) await turn()
	t.deepEqual(contents(), [[1], [2]])
	groups[1]!.end.resolve()
	t.is(await next, 20)
	groups[0]!.end.resolve()
	t.is(await stuck, 10)
})
