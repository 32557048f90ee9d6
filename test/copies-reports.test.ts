import test, { type ExecutionContext } from 'ava'
import { deliverMails } from '../activities/delivery/claim-source.ts'
import { finishClaim, mailsOfClaim } from '../db/emails/ledger.ts'
import { claim, claimOf, deliveryServices, scriptedProvider } from './helpers/ledger.ts'
import { lockWaits } from './helpers/locks.ts'
import { bounce, resendEvent, signedWebhook, webhookSecret } from './helpers/resend-webhooks.ts'
import { setupSend } from './helpers/send.ts'

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
