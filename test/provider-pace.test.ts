import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { resendProvider } from '../outside/providers/resend.ts'
import { overSmtp } from './helpers/campaign-sending.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'
import { aMessage } from './helpers/message.ts'
import { resendFake } from './helpers/resend-fake.ts'

test('a mail that was under way before a refusal does not end the wait the provider asks for', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	for (const name of ['slow', 'refused', 'later']) await send([`${name}@example.org`])
	const [row] = await claim()
	let refusedAt = 0
	const repeatedAt: number[] = []
	const { provider } = scriptedProvider(
		async (message, earlier) => {
			if (message.to.email.startsWith('slow')) await sleep(300)
			else if (message.to.email.startsWith('refused') && earlier === 0) {
				refusedAt = performance.now()
				return { kind: 'UNAVAILABLE', error: '429 slow down', retryAfterMs: 2000 }
			} else repeatedAt.push(performance.now())
			return { kind: 'SENT', providerMessageId: null }
		},
		{ concurrency: 3 },
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf(row)), { left: 0 })
	t.is(repeatedAt.length, 2)
	t.true(Math.min(...repeatedAt) - refusedAt >= 1990, `${Math.min(...repeatedAt) - refusedAt} ms`)
})

test('a recipient’s first deferral is tried again after five seconds, the next after thirty', async (t) => {
	const { send, worker, sink } = await overSmtp(t, 1, {
		faults: [{ at: 'rcpt', recipient: 'user0@', times: 2, reply: '451 4.7.1 Greylisted' }],
	})
	const startedAt = performance.now()
	const rest = await send(worker)
	t.true(performance.now() - startedAt >= 4990)
	t.is(sink.commands.filter((line) => line.startsWith('RCPT')).length, 2)
	t.true(rest.waitMs > 25_000 && rest.waitMs <= 30_000, `${rest.waitMs} ms`)
})

test('the rate of a provider is learned: of many requests few are refused', async (t) => {
	t.timeout(120_000)
	const fake = await resendFake()
	fake.perSecond = 5
	const provider = resendProvider({ apiKey: fake.apiKey, baseUrl: fake.url })
	t.teardown(async () => {
		await provider.close()
		await fake.close()
	})
	let left = 150
	const startedAt = performance.now()
	async function lane() {
		while (left > 0) {
			left -= 1
			while ((await provider.deliver(aMessage())).kind !== 'SENT');
		}
	}
	await Promise.all(Array.from({ length: provider.concurrency }, lane))
	const seconds = (performance.now() - startedAt) / 1000
	t.is(fake.accepted.length, 150)
	t.true(fake.refused <= fake.requests.length / 10, `${fake.refused} of ${fake.requests.length}`)
	t.true(seconds < (150 / 5) * 1.6, `${seconds} s`)
})

test('of a window that is used up the end is awaited', async (t) => {
	const fake = await resendFake()
	fake.faults.push({ status: 200, times: 1, headers: { 'ratelimit-remaining': '0' } })
	const provider = resendProvider({ apiKey: fake.apiKey, baseUrl: fake.url })
	t.teardown(async () => {
		await provider.close()
		await fake.close()
	})
	await provider.deliver(aMessage())
	t.like(await provider.deliver(aMessage()), { kind: 'SENT' })
	const [first, second] = fake.requests
	t.true(second!.at - first!.at >= 990, `${second!.at - first!.at} ms`)
})
