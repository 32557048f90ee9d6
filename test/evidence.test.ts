import { randomUUID } from 'node:crypto'
import test from 'ava'
import { eraseContact } from '../db/contacts/contact-erasing.ts'
import { inChunk } from '../db/transaction.ts'
import { recordEnds } from '../db/emails/ledger.ts'
import { setupReports } from './helpers/reports.ts'
import { bounce } from './helpers/resend-webhooks.ts'

test('a mail reaches the status of its best evidence, in any order of events', async (t) => {
	const { handedOver, report, mail, eventsOf } = await setupReports(t)
	const orders = [
		['sent', 'delivered', 'bounced', 'complained'],
		['complained', 'bounced', 'delivered', 'sent'],
		['delivered', 'sent', 'complained', 'bounced'],
	]
	for (const status of ['SENT', 'SENDING', 'UNCERTAIN'])
		for (const [index, order] of orders.entries()) {
			const sent = await handedOver(status, `${status}${index}@example.org`)
			const reached: unknown[] = []
			for (const type of order) {
				const more = type === 'bounced' ? bounce('Permanent') : {}
				await report(type, sent, more)
				reached.push((await mail(sent))['status'])
			}
			const row = await mail(sent)
			t.is(row['status'], 'COMPLAINED')
			for (const at of ['sent_at', 'delivered_at', 'bounced_at', 'complained_at']) t.truthy(row[at])
			t.deepEqual(
				(await eventsOf(sent)).sort(),
				[
					'email.bounce',
					'email.complaint',
					'email.delivery',
					...(status === 'SENT' ? [] : ['email.sent']),
				],
				`${status}: ${order.join()}`,
			)
			if (index === 1) t.deepEqual(reached, Array(4).fill('COMPLAINED'))
			if (index === 2) t.deepEqual(reached, ['DELIVERED', 'DELIVERED', 'COMPLAINED', 'COMPLAINED'])
		}
})

test('known evidence takes effect only once', async (t) => {
	const { handedOver, report, bounced, eventsOf, pool, project } = await setupReports(t)
	const sent = await handedOver()
	for (let times = 0; times < 2; times++) {
		await report('delivered', sent)
		await bounced(sent)
		await report('complained', sent)
	}
	t.deepEqual(await eventsOf(sent), ['email.delivery', 'email.bounce', 'email.complaint'])
	// With the tallies that are folded already, which happens at random.
	const { rows } = await pool.query(
		`select bounces::int, complaints::int from reputation_windows($1) where period = 'allTime'`,
		[project.id],
	)
	t.deepEqual(rows, [{ bounces: 1, complaints: 1 }])
})

for (const status of ['SENDING', 'UNCERTAIN', 'PENDING'])
	test(`evidence settles a mail that is ${status}, and its worker’s later record changes nothing`, async (t) => {
		const { handedOver, report, mail, eventsOf, execute, pool, project } = await setupReports(t)
		const sent = await handedOver(status)
		await report('delivered', sent)
		t.like(await mail(sent), {
			status: 'DELIVERED',
			error: null,
			provider_message_id: sent.resendId,
		})
		const end = {
			id: sent.id,
			attempt: 1,
			outcome: 'SENT',
			status: 'SENT',
			error: null,
			dueInMs: null,
		} as const
		await recordEnds(pool, project.id, [{ end: { ...end, providerMessageId: sent.resendId } }])
		t.like(await mail(sent), { status: 'DELIVERED' })
		t.deepEqual(await eventsOf(sent), ['email.sent', 'email.delivery'])
		t.deepEqual(await execute('select outcome, provider_message_id from attempts'), [
			{ outcome: 'SENT', provider_message_id: sent.resendId },
		])
	})

test('that a mail was sent is no news once it is recorded: its row is not written', async (t) => {
	const { handedOver, report, execute } = await setupReports(t)
	const sent = await handedOver()
	const version = () => execute('select xmin::text, ctid::text from emails where id = ?', [sent.id])
	const before = await version()
	await report('sent', sent)
	t.deepEqual(await version(), before)
	await report('delivered', sent)
	t.notDeepEqual(await version(), before)
})

test('a mail that was never handed over is moved by no evidence', async (t) => {
	const { sent, report, mail, project } = await setupReports(t)
	const { id } = await sent()
	const tags = { email_id: id, project_id: project.id }
	await report('bounced', { id, resendId: randomUUID(), tags }, bounce('Permanent'))
	t.like(await mail({ id }), { status: 'PENDING', bounced_at: null, sent_at: null })
})

test('a permanent bounce suppresses the address and unsubscribes its contact', async (t) => {
	const { handedOver, bounced, mail, contact, execute, eventsOf } = await setupReports(t)
	const sent = await handedOver()
	await bounced(sent)
	t.like(await mail(sent), {
		status: 'BOUNCED',
		error: 'General: The address does not exist',
	})
	t.false((await contact('anna@example.org')).subscribed)
	t.deepEqual(await execute('select email, reason, email_id from suppressions'), [
		{ email: 'anna@example.org', reason: 'BOUNCE', email_id: sent.id },
	])
	t.deepEqual(await eventsOf(sent), ['email.bounce'])
	t.like(
		(await execute<{ data: object }>(`select data from events where name = 'email.bounce'`))[0]!
			.data,
		{
			bounceType: 'Permanent',
			emailId: sent.id,
			sourceType: 'TRANSACTIONAL',
			subject: 'Hello',
			from: 'app@example.com',
			messageId: `<${sent.id}@example.com>`,
		},
	)
	t.deepEqual(await execute(`select 1 as one from events where name = 'contact.unsubscribed'`), [
		{ one: 1 },
	])
})

for (const type of ['Transient', 'Undetermined', 'SomethingNew'])
	test(`a bounce that is ${type} is recorded only`, async (t) => {
		const { handedOver, bounced, mail, contact, execute, eventsOf } = await setupReports(t)
		const sent = await handedOver()
		await bounced(sent, type)
		t.like(await mail(sent), {
			status: 'SENT',
			bounced_at: null,
			error: 'General: The address does not exist',
		})
		t.true((await contact('anna@example.org')).subscribed)
		t.deepEqual(await execute('select 1 from suppressions'), [])
		t.deepEqual(await eventsOf(sent), ['email.bounce'])
		const [{ data } = { data: {} }] = await execute<{ data: object }>('select data from events')
		t.like(data, { bounceType: type === 'Transient' ? type : 'Undetermined' })
		await bounced(sent)
		t.like(await mail(sent), { status: 'BOUNCED' })
	})

test('a complaint also suppresses and unsubscribes; simultaneous bounces and complaints unsubscribe once', async (t) => {
	const { handedOver, bounced, report, contact, execute } = await setupReports(t)
	const mails = [await handedOver(), await handedOver(), await handedOver(), await handedOver()]
	await Promise.all(
		mails.map((sent, index) => (index % 2 ? bounced(sent) : report('complained', sent))),
	)
	t.false((await contact('anna@example.org')).subscribed)
	t.is((await execute(`select 1 from events where name = 'contact.unsubscribed'`)).length, 1)
	t.is((await execute('select 1 from suppressions')).length, 1)
})

test('an erased contact is never suppressed, whatever is still reported', async (t) => {
	const { handedOver, bounced, mail, execute, pool, project } = await setupReports(t)
	const sent = await handedOver()
	const { contact_id } = await mail(sent)
	await inChunk(pool, (db) => eraseContact(db, project.id, String(contact_id)))
	await bounced(sent)
	t.like(await mail(sent), { status: 'BOUNCED' })
	t.deepEqual(await execute('select 1 from suppressions'), [])
})

test('a mail that Resend could not send, or would not, says so; later news of its sending does not help', async (t) => {
	const { handedOver, report, mail, contact, eventsOf } = await setupReports(t)
	for (const status of ['SENT', 'SENDING']) {
		const failed = await handedOver(status)
		await report('failed', failed, { failed: { reason: 'reached_daily_quota' } })
		await report('sent', failed)
		t.like(await mail(failed), { status: 'FAILED', error: 'reached_daily_quota' })
		const suppressed = await handedOver(status)
		await report('suppressed', suppressed, { suppressed: { message: 'On the list', type: 'x' } })
		await report('sent', suppressed)
		t.like(await mail(suppressed), { status: 'SUPPRESSED', error: 'On the list' })
		t.deepEqual([...(await eventsOf(failed)), ...(await eventsOf(suppressed))], [])
		// Only a sent mail can have arrived.
		await report('delivered', failed)
		t.like(await mail(failed), { status: 'DELIVERED', error: null })
	}
	t.true((await contact('anna@example.org')).subscribed)
})

test('a delay is stored until the mail is delivered, and then removed', async (t) => {
	const { handedOver, report, mail, eventsOf } = await setupReports(t)
	const sent = await handedOver()
	await report('delivery_delayed', sent)
	t.like(await mail(sent), { status: 'SENT', error: 'Delivery is delayed' })
	await report('delivered', sent)
	await report('delivery_delayed', sent)
	t.like(await mail(sent), { status: 'DELIVERED', error: null })
	t.deepEqual(await eventsOf(sent), ['email.delivery'])
})

test('opens and clicks go to the fold, but for mails that carry our own pixel and links', async (t) => {
	const { handedOver, report, execute, pool } = await setupReports(t)
	const sent = await handedOver()
	await report('opened', sent)
	await report('clicked', sent, {
		click: { link: 'https://example.com/a', timestamp: '2026-01-01T00:00:00Z' },
	})
	const tracked = await handedOver()
	await pool.query('update emails set tracked = true where id = $1', [tracked.id])
	await report('opened', tracked)
	t.deepEqual(await execute('select email_id, kind, link from engagements order by id'), [
		{ email_id: sent.id, kind: 'OPEN', link: null },
		{ email_id: sent.id, kind: 'CLICK', link: 'https://example.com/a' },
	])
})
