import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { providerEventActivities } from '../activities/delivery/provider-events.ts'
import { setupReports } from './helpers/reports.ts'
import { bounce } from './helpers/resend-webhooks.ts'

type Reports = Awaited<ReturnType<typeof setupReports>>
function sweep({ pool }: Reports): Promise<{ matched: number; forgotten: number }> {
	const { sweepProviderEvents } = providerEventActivities({ pool, relay: { wake() {} } })
	return new MockActivityEnvironment().run(sweepProviderEvents)
}

/** Records a hand-over, which the event may have overtaken. */
const recordHandOver = (
	{ pool, project }: Reports,
	{ id, resendId }: { id: string; resendId: string },
) =>
	pool.query(
		`insert into attempts (project_id, email_id, attempt, at, outcome, provider, provider_message_id)
		values ($1, $2, 1, now(), 'SENT', 'resend', $3)`,
		[project.id, id, resendId],
	)

test('an event without our tags finds its mail by the id that Resend gave it', async (t) => {
	const { handedOver, report, mail } = await setupReports(t)
	const sent = await handedOver()
	await report('delivered', { ...sent, tags: undefined as never })
	t.like(await mail(sent), { status: 'DELIVERED' })
})

test('events that come before the record of the hand-over wait for it, and lose nothing', async (t) => {
	const all = await setupReports(t)
	const { handedOver, report, mail, eventsOf, execute, contact } = all
	const sent = await handedOver('SENDING')
	const unknown = { ...sent, tags: undefined as never }
	await report('delivered', unknown)
	await report('bounced', unknown, bounce('Permanent'))
	await report('complained', unknown)
	t.deepEqual(await sweep(all), { matched: 0, forgotten: 0 })
	t.like(await mail(sent), { status: 'SENDING' })
	await recordHandOver(all, sent)
	t.deepEqual(await sweep(all), { matched: 3, forgotten: 0 })
	t.deepEqual(await sweep(all), { matched: 0, forgotten: 0 })
	t.like(await mail(sent), { status: 'COMPLAINED', provider_message_id: sent.resendId })
	t.deepEqual(await eventsOf(sent), [
		'email.sent',
		'email.delivery',
		'email.bounce',
		'email.complaint',
	])
	t.false((await contact('anna@example.org')).subscribed)
	t.is((await execute('select 1 from provider_events where evidence is not null')).length, 0)
})

test('two sweeps at once settle each event once', async (t) => {
	const all = await setupReports(t)
	const { handedOver, report, execute } = all
	const mails = await Promise.all(
		Array.from({ length: 20 }, (_, i) => handedOver('SENDING', `a${i}@example.org`)),
	)
	for (const sent of mails)
		await report('bounced', { ...sent, tags: undefined as never }, bounce('Transient'))
	for (const sent of mails) await recordHandOver(all, sent)
	const swept = await Promise.all([sweep(all), sweep(all), sweep(all)])
	t.is(
		swept.reduce((sum, { matched }) => sum + matched, 0),
		20,
	)
	t.is((await execute(`select 1 from events where name = 'email.bounce'`)).length, 20)
})

test('unknown and settled events are forgotten after a week', async (t) => {
	const all = await setupReports(t)
	const { handedOver, report, execute, pool } = all
	const sent = await handedOver()
	await report('delivered', sent)
	await report('delivered', {
		...sent,
		resendId: '00000000-0000-4000-8000-000000000000',
		tags: {} as never,
	})
	t.deepEqual(await sweep(all), { matched: 0, forgotten: 0 })
	t.is((await execute('select 1 from provider_events')).length, 2)
	await pool.query(`update provider_events set received_at = now() - interval '8 days'`)
	t.deepEqual(await sweep(all), { matched: 0, forgotten: 2 })
})

test('a long reason in any script is cut to the storable length', async (t) => {
	const { handedOver, report, mail } = await setupReports(t)
	const sent = await handedOver()
	await report('bounced', sent, bounce('Permanent', `${'x'.repeat(990)}😀 and more`))
	t.is((await mail(sent))['error'], `General: ${'x'.repeat(990)}\ufffd`)
	const other = await handedOver()
	await report('failed', other, { failed: { reason: `${'x'.repeat(1999)}😀` } })
	t.is((await mail(other))['error'], `${'x'.repeat(1999)}\ufffd`)
})
