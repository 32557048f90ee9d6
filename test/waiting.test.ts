import test from 'ava'
import { createProviderPause } from '../activities/delivery/provider-pause.ts'
import { providerReports } from '../db/provider-state.ts'
import { overSmtp } from './helpers/campaign-sending.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

type Context = Awaited<ReturnType<typeof overSmtp>>

const waitingFor = async ({ app, withSecretKey, id }: Context) => {
	const answer = await app.inject({ url: `/campaigns/${id}/progress`, headers: withSecretKey })
	return answer.json().waitingFor as object | null
}

test('a campaign with deferred mails shows the provider’s answer, their number and the next try', async (t) => {
	const context = await overSmtp(t, 5, {
		faults: [{ at: 'rcpt', recipient: 'user2@', reply: '451 4.7.1 Greylisted, retry in 60 s' }],
	})
	t.is(await waitingFor(context), null)
	const because = 'Recipient refused: 451 4.7.1 Greylisted, retry in 60 s'
	t.like(await context.send(context.worker), { left: 1, because })
	const waiting = await waitingFor(context)
	t.like(waiting, { reason: 'provider', message: because, mails: 1 })
	const { until } = waiting as { until: string }
	t.true(Date.parse(until) > Date.now() + 30_000 && Date.parse(until) <= Date.now() + 60_000)
})

test('a campaign says that it waits for its owner, a billing limit, the send rate or the provider', async (t) => {
	const context = await overSmtp(t, 5)
	const { query, project, pool } = context
	await query("insert into send_budgets values ($1, now() + interval '1 minute')", [project.id])
	t.like(await waitingFor(context), { reason: 'rate', mails: 5, message: null })
	providerReports(pool, 'smtp')({ error: '421 Not now, ann@example.org', waitMs: 60_000 })
	while ((await query('select 1 from provider_states')).length === 0);
	t.like(await waitingFor(context), {
		reason: 'provider',
		message: '421 Not now, <address>',
		mails: 5,
	})
	await query("update campaigns set paused_at = now(), paused_reason = 'OWNER'")
	t.like(await waitingFor(context), { reason: 'paused', mails: 5, until: null })
	await query("update campaigns set paused_reason = 'BILLING_LIMIT'")
	t.like(await waitingFor(context), { reason: 'billing', mails: 5, until: null })
})

test('a pause that nobody asked for says what it is about, and what to do', async (t) => {
	const context = await overSmtp(t, 5)
	const { query } = context
	for (const [reason, message] of [
		['OWNER', null],
		[
			'TEMPLATE',
			'The template takes too long to render. Duplicate the campaign with a simpler one, or resume it.',
		],
		['SENDER', 'The sender’s domain is not verified. Verify it, then resume the campaign.'],
		[
			'FAULT',
			'The recipients could not be listed because of a fault. Resume the campaign to try again.',
		],
	] as const) {
		await query('update campaigns set paused_at = now(), paused_reason = $1', [reason])
		t.like(await waitingFor(context), { reason: 'paused', message })
	}
})

test('single mails that were deferred wait for the reason that the provider gave', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	await send(['ann@example.org'])
	const [row] = await claim()
	const { provider } = scriptedProvider(() => ({
		kind: 'DEFERRED',
		error: '451 Try later, ann@example.org',
		retryAfterMs: 60_000,
	}))
	for (const one of [await worker(provider), await worker(provider)])
		t.like(await one.pass(claimOf(row)), { left: 1, because: '451 Try later, <address>' })
})

test('health names a provider that has been away for a minute, until it takes mail again', async (t) => {
	const { app, pool, query } = await overSmtp(t, 1)
	const health = async () => (await app.inject('/health')).json()
	const ok = { status: 'ok', provider: null }
	const rows = async (count: number) => {
		while ((await query('select 1 from provider_states')).length !== count);
		await new Promise((resolve) => setTimeout(resolve, 1001))
	}
	const pause = createProviderPause(providerReports(pool, 'smtp'))
	pause.unavailable('421 4.3.2 Not now', null, performance.now())
	await rows(1)
	t.like(await health(), ok)
	await query(`update provider_states set away_since = now() - interval '61 seconds'`)
	await rows(1)
	const away = await health()
	t.like(away, { status: 'degraded', provider: { name: 'smtp', answer: '421 4.3.2 Not now' } })
	t.is(away.checks.provider, 'away')
	pause.available(performance.now())
	await rows(0)
	t.like(await health(), ok)
})
