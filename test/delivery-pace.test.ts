import test from 'ava'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

test('the mails of one request leave one after the other, in their order', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	const recipients = Array.from({ length: 12 }, (_, i) => `r${i}@example.org`)
	await send(recipients)
	let underWay = 0
	const { provider, order } = scriptedProvider(async () => {
		t.is(++underWay, 1)
		await new Promise((resolve) => setTimeout(resolve, 5 * Math.random()))
		underWay -= 1
		return { kind: 'SENT', providerMessageId: null }
	})
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.deepEqual(order(), recipients)
})

test('the mails of different requests leave side by side, never more than the provider takes', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	for (let i = 0; i < 30; i++) await send([`r${i}@example.org`])
	let underWay = 0
	let most = 0
	const { provider } = scriptedProvider(
		async () => {
			most = Math.max(most, ++underWay)
			await new Promise((resolve) => setTimeout(resolve, 20))
			underWay -= 1
			return { kind: 'SENT', providerMessageId: null }
		},
		{ concurrency: 8 },
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.is(most, 6, 'three quarters of eight, since one project must not take them all')
})

test('two workers together keep the send rate of a project', async (t) => {
	const { send, claim, worker, execute } = await setupLedger(t)
	await execute('update projects set send_rate_per_second = 20')
	for (let i = 0; i < 15; i++) await send([`a${i}@example.org`])
	const [first] = await claim()
	for (let i = 0; i < 15; i++) await send([`b${i}@example.org`])
	const [second] = await claim()
	const { provider, handed } = scriptedProvider()
	const [one, two] = [await worker(provider), await worker(provider)]
	await Promise.all([one.pass(claimOf(first)), two.pass(claimOf(second))])
	t.is(handed.length, 30)
	const due = await dueTimes(execute)
	const times = [...due.values()]
	for (const [i, time] of times.entries()) if (i > 0) t.true(time - times[i - 1]! >= 49)
	for (const { emailId, at } of handed) t.true(at >= due.get(emailId)! - 1, 'none goes early')
})

test('mails that waited for the provider to come back leave at the send rate from then on', async (t) => {
	const { send, claim, worker, execute } = await setupLedger(t, { sendRatePerSecond: 20 })
	for (let i = 0; i < 20; i++) await send([`r${i}@example.org`])
	const retryAfterMs = 2500
	let isAway = true
	const { provider, handed } = scriptedProvider(
		() => {
			if (!isAway) return
			isAway = false
			return { kind: 'UNAVAILABLE', error: '421 closing', retryAfterMs }
		},
		// No other mail is handed over before it is known that the provider is away.
		{ concurrency: 1 },
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	const backAt = handed.shift()!.at + retryAfterMs
	const due = await dueTimes(execute)
	t.true(Math.min(...due.values()) >= backAt - 1000, 'reserved when it was back')
	for (const { emailId, at } of handed) t.true(at >= due.get(emailId)! - 1, 'none goes early')
	const times = [...due.values()]
	t.is(times.length, 20)
	for (const [i, time] of times.entries()) if (i > 0) t.true(time - times[i - 1]! >= 49)
})

/** When the grants of the mails let them leave, by their ids, the first of them first. */
async function dueTimes(execute: Awaited<ReturnType<typeof setupLedger>>['execute']) {
	const rows = await execute<{ id: string; due: number }>(
		'select id, extract(epoch from due_at)::float8 * 1000 as due from emails order by due_at',
	)
	return new Map(rows.map(({ id, due }) => [id, due]))
}
