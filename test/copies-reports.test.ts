import test, { type ExecutionContext } from 'ava'
import { deliverMails } from '../activities/delivery/claim-source.ts'
import { erasedAddress } from '../db/emails/email.ts'
import { finishClaim, mailsOfClaim } from '../db/emails/ledger.ts'
import type { Outcome } from '../outside/providers/provider.ts'
import { claim, claimOf, deliveryServices, scriptedProvider } from './helpers/ledger.ts'
import { lockWaits } from './helpers/locks.ts'
import { complaint, dsn } from './helpers/bounce-mails.ts'
import { bounce, resendEvent, signedWebhook, webhookSecret } from './helpers/resend-webhooks.ts'
import { setupSend } from './helpers/send.ts'
import { startReceiver } from './helpers/webhook-receiver.ts'
import { addedEndpoint, takeTurn } from './helpers/webhooks.ts'

const [anna, bob, carl] = ['anna@example.org', 'bob@example.org', 'carl@example.org']

const lost: Outcome = { kind: 'UNKNOWN', error: 'The connection went away' }

/** An API that receives reports about mails with copies. */
async function setup(t: ExecutionContext) {
	const all = await setupSend(t, { settings: { resendWebhookSecret: webhookSecret } })
	const { app, pool, project, sent, withSecretKey: headers } = all
	return {
		...all,
		/** A mail to Anna that the provider has accepted, unless the outcome is another. */
		async handedOver(changes: object, outcome?: Outcome) {
			const { id } = await sent({ to: anna, subscribed: true, ...changes })
			const { provider } = scriptedProvider(() => outcome)
			const { services } = deliveryServices(pool, provider, {})
			const claimId = claimOf((await claim(pool))[0])
			await deliverMails(services, () => mailsOfClaim(pool, { claimId, provider: provider.name }))
			await finishClaim(pool, { claimId })
			return { id }
		},
		/** Reports an event of a mail as Resend does, each time as a new one. */
		async report(type: string, { id }: { id: string }, to: string, more: object = {}) {
			const tags = { email_id: id, project_id: project.id }
			const response = await app.inject(signedWebhook(resendEvent(type, { to: [to], tags }, more)))
			t.is(response.statusCode, 200, response.body)
		},
		/** Posts a report that came by mail. */
		async reportByMail(mail: string, matched = 1) {
			const response = await app.inject({
				method: 'POST',
				url: '/webhooks/bounce',
				headers: { ...headers, 'content-type': 'message/rfc822' },
				payload: mail,
			})
			t.is(response.json().matched.length, matched, response.body)
		},
		async erase(id: string) {
			const url = `/contacts/${id}?erase=true`
			const response = await app.inject({ method: 'DELETE', url, headers })
			t.is(response.statusCode, 204, response.body)
		},
		shown: async ({ id }: { id: string }) =>
			(await app.inject({ url: `/emails/${id}`, headers })).json<{
				status: string
				error: string | null
				sentAt: string | null
				cc: { error: string | null }[]
			}>(),
		suppressed: async () => {
			const { rows } = await pool.query<{ email: string }>('select email from suppressions')
			return rows.map(({ email }) => email)
		},
		/** An endpoint for reports. `deliver` returns what it has heard, in no order. */
		async endpoint() {
			const receiver = await startReceiver(t)
			const types = ['email.bounced', 'email.complained']
			const endpointId = await addedEndpoint(pool, project.id, receiver.url, types)
			const deliver = async () => {
				await takeTurn(pool, { projectId: project.id, endpointId })
				return receiver.heard
			}
			return { deliver }
		},
		reported: async () =>
			(await all.events()).filter((name) => ['email.bounce', 'email.complaint'].includes(name)),
	}
}

test('repeated reports about a copy count once, so its reader can’t suspend the project', async (t) => {
	const { handedOver, report, reported, send } = await setup(t)
	const mail = await handedOver({ cc: [bob, carl] })
	for (let times = 0; times < 8; times++) {
		await report('complained', mail, bob)
		await report('bounced', mail, carl, bounce('Permanent'))
	}
	t.deepEqual(await reported(), ['email.complaint', 'email.bounce'])
	t.is((await send()).statusCode, 200)
})

test('simultaneous reports about a copy count once', async (t) => {
	const { handedOver, report, reported, pool } = await setup(t)
	const mail = await handedOver({ cc: bob })
	const lock = await pool.connect()
	await lock.query('begin')
	await lock.query('select from emails where id = $1 for update', [mail.id])
	const reports = [1, 2].map(() => report('bounced', mail, bob, bounce('Permanent')))
	await lockWaits(t, pool, 2)
	await lock.query('commit')
	lock.release()
	await Promise.all(reports)
	t.deepEqual(await reported(), ['email.bounce'])
})

test('a webhook about a copy names its reader, and no contact', async (t) => {
	const { handedOver, report, endpoint } = await setup(t)
	const { deliver } = await endpoint()
	const mail = await handedOver({ cc: bob, bcc: carl })
	await report('complained', mail, bob)
	await report('bounced', mail, carl, bounce('Permanent', 'Unknown'))
	const heard = await deliver()
	const dataOf = (wanted: string) => heard.find(({ type }) => type === wanted)!.data
	const ofMail = { emailId: mail.id, contactId: null, to: anna }
	t.like(dataOf('email.complained'), { ...ofMail, email: bob })
	t.false('error' in dataOf('email.complained'))
	t.like(dataOf('email.bounced'), { ...ofMail, email: carl, error: 'General: Unknown' })
})

test('a webhook about a copy that still waits is without its reader once they are erased', async (t) => {
	const { handedOver, report, endpoint, createContact, erase } = await setup(t)
	const { deliver } = await endpoint()
	const { id } = await createContact(bob)
	const mail = await handedOver({ cc: [bob, carl] })
	await report('complained', mail, bob)
	await report('bounced', mail, bob, bounce('Permanent', bob))
	await report('complained', mail, carl)
	await erase(id)
	const heard = await deliver()
	t.deepEqual(
		heard
			.map(({ type, data }) => `${type}: ${JSON.stringify([data['email'], data['error']])}`)
			.toSorted(),
		[
			`email.bounced: ["${erasedAddress}",""]`,
			`email.complained: ["${carl}",null]`,
			`email.complained: ["${erasedAddress}",null]`,
		],
	)
	t.notRegex(JSON.stringify(heard.map(({ data }) => data)), /bob/)
})

for (const [name, write] of Object.entries({
	bounce: (mail: { id: string }) => dsn(mail, {}),
	complaint,
}))
	test(`a ${name} of a copy whose reader was erased is not held against the recipient`, async (t) => {
		const { handedOver, reportByMail, createContact, erase, suppressed, shown, contact } =
			await setup(t)
		const { id } = await createContact(bob)
		const mail = await handedOver({ cc: bob })
		await erase(id)
		await reportByMail(write(mail).replaceAll(anna, bob))
		t.is((await shown(mail)).status, 'SENT')
		t.deepEqual(await suppressed(), [])
		t.true((await contact(anna)).subscribed)
	})

const ofAlso = (address: string) =>
	`\n\nFinal-Recipient: rfc822; ${address}\nAction: failed\nStatus: 5.1.1`

test('one report that a mail came back from several readers concerns each of them, once', async (t) => {
	const { handedOver, reportByMail, suppressed, shown, events } = await setup(t)
	const mail = await handedOver({ cc: [bob, carl] })
	const report = dsn(mail, {}, { recipients: ofAlso(bob) + ofAlso(bob) })
	for (let times = 0; times < 2; times++) await reportByMail(report, 2)
	t.is((await shown(mail)).status, 'BOUNCED')
	t.deepEqual((await suppressed()).toSorted(), [anna, bob])
	t.is((await events()).filter((name) => name === 'email.bounce').length, 2)
})

test('a report that a mail reached its recipient but no copy concerns both', async (t) => {
	const { handedOver, reportByMail, suppressed, shown } = await setup(t)
	const mail = await handedOver({ cc: bob })
	const delivered = { action: 'delivered', status: '2.0.0' }
	await reportByMail(dsn(mail, delivered, { recipients: ofAlso(bob) }), 2)
	t.is((await shown(mail)).status, 'DELIVERED')
	t.deepEqual(await suppressed(), [bob])
})

test('of the addresses that a mail without copies was forwarded to, the worst counts once', async (t) => {
	const { handedOver, reportByMail, shown, reported } = await setup(t)
	const mail = await handedOver({})
	const recipients = ofAlso('b@forwarded.example') + ofAlso('c@forwarded.example')
	await reportByMail(dsn(mail, {}, { recipients }), 1)
	t.is((await shown(mail)).status, 'BOUNCED')
	t.deepEqual(await reported(), ['email.bounce'])
})

test('a report that comes after the erasure of its reader does not bring the address back', async (t) => {
	const { handedOver, report, reportByMail, createContact, erase, shown, pool } = await setup(t)
	const ann = 'ann@example.org'
	const { id } = await createContact(ann)
	const mails = [await handedOver({ to: ann }), await handedOver({ to: ann, cc: bob })]
	await erase(id)
	const reason = `${ann}: user unknown`
	for (const mail of mails) {
		await report('delivery_delayed', mail, ann, bounce('Transient', reason))
		await report('bounced', mail, ann, bounce('Permanent', reason))
		await reportByMail(dsn(mail, {}).replaceAll(anna, ann))
		t.is((await shown(mail)).error, null)
	}
	t.is((await shown(mails[0]!)).status, 'BOUNCED')
	for (const table of ['emails', 'attempts', 'events', 'suppressions']) {
		const { rows } = await pool.query(`select * from ${table} x where x::text like $1`, [
			`%${ann}%`,
		])
		t.deepEqual(rows, [], table)
	}
})

test('a report about another address still concerns the recipient of a mail without copies', async (t) => {
	const { handedOver, reportByMail, suppressed, shown } = await setup(t)
	const mail = await handedOver({})
	await reportByMail(dsn(mail, {}).replaceAll(anna, 'anna@forwarded.example'))
	t.is((await shown(mail)).status, 'BOUNCED')
	t.deepEqual(await suppressed(), [anna])
})

test('a mail whose only copy was erased before it was sent is sent to its recipient', async (t) => {
	const { handedOver, createContact, erase, shown, sent } = await setup(t)
	const { id } = await createContact(bob)
	const mail = await sent({ to: anna, cc: bob })
	await erase(id)
	await handedOver({ to: carl })
	t.like(await shown(mail), { status: 'SENT', cc: [] })
})

for (const [type, more] of Object.entries({
	delivered: {},
	bounced: bounce('Permanent'),
	complained: {},
	delivery_delayed: {},
}))
	test(`a report that a copy was ${type} proves that an uncertain mail was sent`, async (t) => {
		const { handedOver, report, shown, events } = await setup(t)
		const mail = await handedOver({ cc: bob }, lost)
		t.is((await shown(mail)).status, 'UNCERTAIN')
		await report(type, mail, bob, more)
		t.like(await shown(mail), { status: 'SENT', error: null })
		t.true((await events()).includes('email.sent'))
	})

test('a report that a copy was refused before the hand-over leaves the mail uncertain', async (t) => {
	const { handedOver, report, shown } = await setup(t)
	const mail = await handedOver({ cc: [bob, carl] }, lost)
	await report('failed', mail, bob, { failed: { reason: 'Refused' } })
	await report('suppressed', mail, carl, { suppressed: { message: 'Listed' } })
	const { status, sentAt, cc } = await shown(mail)
	t.deepEqual([status, sentAt], ['UNCERTAIN', null])
	t.deepEqual(
		cc.map(({ error }) => error),
		['Refused', 'Listed'],
	)
})

test('a delivery of a copy is none of the recipient', async (t) => {
	const { handedOver, report, shown, events } = await setup(t)
	const mail = await handedOver({ cc: bob })
	await report('delivered', mail, bob)
	t.is((await shown(mail)).status, 'SENT')
	t.false((await events()).includes('email.delivery'))
})
