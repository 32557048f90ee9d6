import test from 'ava'
import { createFairTurns, TurnsBusy } from '../db/fair-turns.ts'

const limits = { atOnce: 3, ofOne: 2, waiting: 10, waitingOfAll: 100, patienceMs: 10_000 }

/** Scans that end when they are told to, by project, in the order in which they began. */
function setupScans(changed: Partial<typeof limits> = {}) {
	const inTurn = createFairTurns({ ...limits, ...changed })
	const begun: { project: string; end: () => void }[] = []
	return {
		begun: () => begun.map(({ project }) => project).join(''),
		scan: (project: string) =>
			inTurn(project, () => new Promise<void>((end) => begun.push({ project, end }))),
		/** Ends the scan that began as the nth, and lets others begin. */
		async end(place: number) {
			begun[place]!.end()
			await new Promise(setImmediate)
		},
	}
}

test('one project never has all slots', (t) => {
	const { begun, scan } = setupScans()
	for (let n = 0; n < 5; n++) void scan('a')
	t.is(begun(), 'aa')
	void scan('b')
	t.is(begun(), 'aab')
})

test('projects take turns, however many scans of each are waiting', async (t) => {
	const { begun, scan, end } = setupScans()
	const all = 'aaaaaabbbc'.split('').map(scan)
	t.is(begun(), 'aab')
	for (let n = 0; n < all.length; n++) await end(n)
	await Promise.all(all)
	t.is(begun(), 'aabcababaa')
})

test('a scan that waits too long is refused, and leaves its place to others', async (t) => {
	const { begun, scan, end } = setupScans({ patienceMs: 20 })
	const [first, second] = [scan('a'), scan('a')]
	await t.throwsAsync(scan('a'), { instanceOf: TurnsBusy })
	await end(0)
	await end(1)
	await Promise.all([first, second])
	void scan('a')
	t.is(begun(), 'aaa')
})

test('beyond a number of waiting scans of a project, further ones are refused at once', async (t) => {
	const { scan } = setupScans({ waiting: 1 })
	for (let n = 0; n < 3; n++) void scan('a')
	await t.throwsAsync(scan('a'), { instanceOf: TurnsBusy })
	t.notThrows(() => void scan('b'))
})

test('beyond a number of waiting scans of all projects, further ones are refused at once', async (t) => {
	const { begun, scan, end } = setupScans({ waitingOfAll: 2 })
	const all = 'aabab'.split('').map(scan)
	t.is(begun(), 'aab')
	await t.throwsAsync(scan('c'), { instanceOf: TurnsBusy })
	await end(0)
	t.notThrows(() => all.push(scan('c')))
	for (let n = 1; n < all.length; n++) await end(n)
	await Promise.all(all)
	t.is(begun().length, 6)
})

test('a scan that fails frees its slot', async (t) => {
	const inTurn = createFairTurns({ ...limits, atOnce: 1 })
	const fail = () => inTurn('a', () => Promise.reject(new Error('no')))
	await t.throwsAsync(fail, { message: 'no' })
	t.is(await inTurn('a', async () => 'read'), 'read')
})
