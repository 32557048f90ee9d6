import test from 'ava'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

// The worker's clock is wrong by an hour, as if someone had set it; Postgres' clock is right.

const machineNow = Date.now
const hourMs = 3_600_000

for (const [word, aheadMs] of [
	['ahead', hourMs],
	['behind', -hourMs],
] as const)
	test.serial(`a worker whose clock is ${word} keeps the configured rate and pause`, async (t) => {
		Date.now = () => machineNow() + aheadMs
		t.teardown(() => void (Date.now = machineNow))
		const { send, claim, worker, mail } = await setupLedger(t, { sendRatePerSecond: 10 })
		const ids = await send(['ann@example.org', 'bob@example.org', 'cid@example.org'])
		const { provider, handed } = scriptedProvider((message, earlier) =>
			message.to.email.startsWith('ann') && earlier === 0
				? { kind: 'DEFERRED', error: '450 later', retryAfterMs: 700 }
				: undefined,
		)
		const { pass } = await worker(provider)
		const rest = await pass(claimOf((await claim())[0]))
		t.like(rest, { settled: 3, left: 0 })
		for (const id of ids) t.is((await mail(id)).status, 'SENT')
		const [first, ...others] = handed
		const ofAnn = others.find(({ to }) => to === first!.to)!
		t.true(ofAnn.at - first!.at >= 690, `${ofAnn.at - first!.at} ms`)
		t.true(ofAnn.at - first!.at < 20_000)
	})

test.serial(
	'doubt and pauses last as long as configured, whatever the worker’s clock shows',
	async (t) => {
		Date.now = () => machineNow() + hourMs
		t.teardown(() => void (Date.now = machineNow))
		const { send, claim, worker, execute } = await setupLedger(t, { uncertainAfterMs: 60_000 })
		await send(['ann@example.org', 'bob@example.org'])
		const { provider } = scriptedProvider(({ to }) =>
			to.email.startsWith('ann')
				? { kind: 'UNKNOWN', error: 'silence' }
				: { kind: 'DEFERRED', error: '450 later', retryAfterMs: 60_000 },
		)
		const { pass } = await worker(provider)
		const { left, waitMs } = await pass(claimOf((await claim())[0]))
		t.is(left, 2)
		t.true(waitMs > 30_000 && waitMs <= 60_000, `${waitMs} ms`)
		t.deepEqual(
			await execute(
				`select status, due_at < now() + interval '1 minute' as soon from emails order by "to"`,
			),
			[
				{ status: 'UNCERTAIN', soon: null },
				{ status: 'PENDING', soon: true },
			],
		)
	},
)
