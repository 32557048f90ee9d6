import test, { type ExecutionContext } from 'ava'
import { finishClaim, mailsOfClaim } from '../db/emails/ledger.ts'
import { deliverMails } from '../activities/delivery/claim-source.ts'
import { mailboxOf } from '../activities/delivery/mailbox.ts'
import { localProvider } from '../outside/providers/local.ts'
import type { Provider } from '../outside/providers/provider.ts'
import { smtpProvider } from '../outside/providers/smtp.ts'
import { complaint, dsn } from './helpers/bounce-mails.ts'
import { claim, claimOf, deliveryServices, scriptedProvider } from './helpers/ledger.ts'
import { bounce, resendEvent, signedWebhook, webhookSecret } from './helpers/resend-webhooks.ts'
import { setupSend } from './helpers/send.ts'
import { smtpSink } from './helpers/smtp-sink.ts'

/** An API, and the worker that delivers what it has accepted. */
async function setup(t: ExecutionContext) {
	const all = await setupSend(t, { settings: { resendWebhookSecret: webhookSecret } })
	const { app, pool, orm, withSecretKey } = all
	return {
		...all,
		async deliver(provider: Provider) {
			const { services } = deliveryServices(pool, provider, {})
			const claimId = claimOf((await claim(pool))[0])
			const params = { claimId, provider: provider.name }
			await deliverMails(services, () => mailsOfClaim(pool, params))
			await finishClaim(pool, { claimId })
		},
		async sink() {
			const sink = await smtpSink()
			const provider = smtpProvider({ url: sink.url })
			t.teardown(async () => {
				await provider.close()
				await sink.close()
			})
			return { sink, provider }
		},
		shown: async (id: string) =>
			(await app.inject({ url: `/emails/${id}`, headers: withSecretKey })).json<Shown>(),
		suppress: (email: string) =>
			app.inject({
				method: 'POST',
				url: '/suppressions',
				headers: withSecretKey,
				payload: { email },
			}),
		suppressed: async () =>
			(
				await orm.em
					.fork()
					.execute<{ email: string }[]>('select email from suppressions order by email')
			).map(({ email }) => email),
	}
}

interface Shown {
	status: string
	error: string | null
	cc: { email: string; error: string | null }[]
	bcc: { email: string; error: string | null }[]
}

const [bob, carl, dora] = ['bob@example.org', 'carl@example.org', 'dora@example.org']

test('a copy to a suppressed address is left out, and the record says why', async (t) => {
	const { sent, deliver, sink: aSink, shown, suppress } = await setup(t)
	await suppress(bob)
	const { id } = await sent({ cc: [bob, carl], bcc: dora })
	const { sink, provider } = await aSink()
	await deliver(provider)
	t.deepEqual(sink.mails[0]!.recipients, ['anna@example.org', carl, dora])
	t.notRegex(sink.mails[0]!.raw, /bob|dora/)
	const { status, cc, bcc } = await shown(id)
	t.is(status, 'SENT')
	t.deepEqual(
		[...cc, ...bcc].map(({ email, error }) => [email, error]),
		[
			[bob, 'The address is on the suppression list: MANUAL'],
			[carl, null],
			[dora, null],
		],
	)
})

test('every try sends the same copies, whatever is suppressed meanwhile', async (t) => {
	const { sent, deliver, suppress, pool } = await setup(t)
	await sent({ cc: [bob, carl] })
	await suppress(bob)
	const handed: unknown[] = []
	const { provider } = scriptedProvider(({ cc }, earlier) => {
		handed.push(cc?.map(({ email }) => email))
		return earlier === 0 ? { kind: 'DEFERRED', error: 'Later', retryAfterMs: 0 } : undefined
	})
	await deliver({
		...provider,
		async deliver(message, dkim) {
			const outcome = await provider.deliver(message, dkim)
			await suppress(carl)
			await pool.query('delete from suppressions where email = $1', [bob])
			return outcome
		},
	})
	t.deepEqual(handed, [[carl], [carl]])
})

test('the record says which copy the server refused, and with which answer', async (t) => {
	const { sent, deliver, sink: aSink, shown } = await setup(t)
	const { id } = await sent({ cc: bob, bcc: carl })
	const { sink, provider } = await aSink()
	sink.faults.push({ at: 'rcpt', recipient: 'bob', reply: '550 5.1.1 No such user' })
	await deliver(provider)
	t.like(await shown(id), {
		status: 'SENT',
		error: null,
		cc: [{ email: bob, error: '550 5.1.1 No such user' }],
		bcc: [{ email: carl, error: null }],
	})
})

test('a mail with copies has no pixel and no tracked links, which would show no particular reader', async (t) => {
	const { sent, deliver, pool } = await setup(t)
	await pool.query(`update projects set tracking = 'ENABLED'`)
	const body = '<p><a href="https://example.net/">Link</a></p>'
	const plain = await sent({ body })
	const copied = await sent({ body, bcc: bob })
	const bodies = new Map<string, string>()
	const { provider } = scriptedProvider(({ emailId, html }) => void bodies.set(emailId, html))
	await deliver(provider)
	t.regex(bodies.get(plain.id)!, /\/c\//)
	t.notRegex(bodies.get(copied.id)!, /\/c\/|\/o\//)
})

test('a large mail reaches its copies like a small one', async (t) => {
	const { sent, deliver, sink: aSink } = await setup(t)
	await sent({ body: `<p>${'word '.repeat(250_000)}</p>`, cc: bob, bcc: carl, render: false })
	const { sink, provider } = await aSink()
	await deliver(provider)
	t.deepEqual(sink.mails[0]!.recipients, ['anna@example.org', bob, carl])
	t.regex(sink.mails[0]!.raw, /^Cc: bob@example\.org\r$/m)
})

test('the local mailbox shows copies, and blind copies as such', async (t) => {
	const { sent, deliver, pool, app } = await setup(t)
	await sent({ cc: { email: bob, name: 'Bob' }, bcc: carl })
	await deliver(localProvider({ store: mailboxOf(pool) }))
	const { messages } = (await app.inject('/mailbox/messages')).json<{ messages: Message[] }>()
	t.like(messages[0], { cc: [bob], bcc: [carl] })
	const page = await app.inject(`/mailbox?id=${messages[0]!.id}`)
	t.regex(page.body, /<dt>Cc<\/dt><dd>Bob &lt;bob@example\.org&gt;<\/dd><dt>Bcc<\/dt><dd>carl@/)
	const raw = await app.inject(`/mailbox/messages/${messages[0]!.id}/raw`)
	t.notRegex(raw.body, /carl/)
})

interface Message {
	id: string
	cc: string[]
	bcc: string[]
}

test('a bounce of a copy suppresses its address alone, and the mail stays delivered', async (t) => {
	const { sent, deliver, shown, app, suppressed, project, contact, events } = await setup(t)
	const { id } = await sent({ cc: [bob, carl], subscribed: true })
	await deliver(scriptedProvider().provider)
	const report = (type: string, to: string, more: object = {}) => {
		const tags = { email_id: id, project_id: project.id }
		return app.inject(signedWebhook(resendEvent(type, { to: [to], tags }, more)))
	}
	t.is((await report('delivered', 'anna@example.org')).statusCode, 200)
	t.is((await report('bounced', carl, bounce('Permanent', 'Unknown'))).statusCode, 200)
	t.is((await report('complained', bob)).statusCode, 200)
	const mail = await shown(id)
	t.is(mail.status, 'DELIVERED')
	t.deepEqual(
		mail.cc.map(({ error }) => error),
		[null, 'General: Unknown'],
	)
	t.deepEqual(await suppressed(), [bob, carl])
	t.true((await contact('anna@example.org')).subscribed)
	t.true((await events()).includes('email.bounce'))
})

for (const [name, write] of Object.entries({
	bounce: (mail: { id: string }) => dsn(mail, {}),
	complaint: (mail: { id: string }) => complaint(mail),
}))
	test(`a ${name} of a copy that comes by mail suppresses its address alone`, async (t) => {
		const { sent, deliver, shown, app, suppressed, withSecretKey } = await setup(t)
		const { id } = await sent({ cc: carl })
		await deliver(scriptedProvider().provider)
		const response = await app.inject({
			method: 'POST',
			url: '/webhooks/bounce',
			headers: { ...withSecretKey, 'content-type': 'message/rfc822' },
			payload: write({ id }).replaceAll('anna@example.org', carl),
		})
		t.is(response.statusCode, 200, response.body)
		t.deepEqual(await suppressed(), [carl])
		t.is((await shown(id)).status, 'SENT')
	})

test('an erased person is removed from the copies of mails to others', async (t) => {
	const { sent, deliver, shown, app, withSecretKey, contact, pool } = await setup(t)
	const { id } = await sent({ cc: [bob, carl] })
	const { id: other } = await sent({ bcc: bob })
	await deliver(localProvider({ store: mailboxOf(pool) }))
	await sent({ to: bob })
	const { id: person } = await contact(bob)
	const erased = await app.inject({
		method: 'DELETE',
		url: `/contacts/${person}?erase=true`,
		headers: withSecretKey,
	})
	t.is(erased.statusCode, 204, erased.body)
	t.like(await shown(id), { cc: [{ email: carl }], bcc: [] })
	t.like(await shown(other), { cc: [], bcc: [], status: 'SENT' })
	const { messages } = (await app.inject('/mailbox/messages')).json<{ messages: Message[] }>()
	t.deepEqual(messages, [])
})
