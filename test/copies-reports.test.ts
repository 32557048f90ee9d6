import test, { type ExecutionContext } from 'ava'
import { deliverMails } from '../activities/delivery/claim-source.ts'
import { erasedAddress } from '../db/emails/email.ts'
import { finishClaim, mailsOfClaim } from '../db/emails/ledger.ts'
import { claim, claimOf, deliveryServices, scriptedProvider } from './helpers/ledger.ts'
import { lockWaits } from './helpers/locks.ts'
import { bounce, resendEvent, signedWebhook, webhookSecret } from './helpers/resend-webhooks.ts'
import { setupSend } from './helpers/send.ts'
import { startReceiver } from './helpers/webhook-receiver.ts'
import { addedEndpoint, takeTurn } from './helpers/webhooks.ts'

const [anna, bob, carl] = ['anna@example.org', 'bob@example.org', 'carl@example.org']

/** An API that receives reports about mails with copies. */
async function setup(t: ExecutionContext) {
	const all = await setupSend(t, { settings: { resendWebhookSecret: webhookSecret } })
	const { app, pool, project, sent } = all
	return {
		...all,
		/** A mail to Anna that the provider has accepted. */
		async handedOver(changes: object) {
			const mail = await sent({ to: anna, subscribed: true, ...changes })
			const { provider } = scriptedProvider()
			const { services } = deliveryServices(pool, provider, {})
			const claimId = claimOf((await claim(pool))[0])
			await deliverMails(services, () => mailsOfClaim(pool, { claimId, provider: provider.name }))
			await finishClaim(pool, { claimId })
			return mail
		},
		/** Reports an event of a mail as Resend does, each time as a new one. */
		async report(type: string, { id }: { id: string }, to: string, more: object = {}) {
			const tags = { email_id: id, project_id: project.id }
			const response = await app.inject(signedWebhook(resendEvent(type, { to: [to], tags }, more)))
			t.is(response.statusCode, 200, response.body)
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
	const { handedOver, report, endpoint, createContact, app, withSecretKey } = await setup(t)
	const { deliver } = await endpoint()
	const { id } = await createContact(bob)
	const mail = await handedOver({ cc: [bob, carl] })
	await report('complained', mail, bob)
	await report('bounced', mail, bob, bounce('Permanent', bob))
	await report('complained', mail, carl)
	const erased = await app.inject({
		method: 'DELETE',
		url: `/contacts/${id}?erase=true`,
		headers: withSecretKey,
	})
	t.is(erased.statusCode, 204, erased.body)
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
