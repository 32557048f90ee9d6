import test from 'ava'
import { readSettings } from '../api/settings.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { setup } from './helpers/app.ts'
import { setupReports } from './helpers/reports.ts'
import { bounce, resendEvent, signedWebhook, webhookSecret } from './helpers/resend-webhooks.ts'

const event = resendEvent('delivered', {})

test('an event of Resend must be signed with our secret, over its very bytes, in the last five minutes', async (t) => {
	const { app } = await setupReports(t)
	const good = signedWebhook(event)
	const minute = 60_000
	const bad = {
		'another secret': signedWebhook(event, { secret: 'whsec_AAAA' }),
		'too old': signedWebhook(event, { at: Date.now() - 5.5 * minute }),
		'from the future': signedWebhook(event, { at: Date.now() + 5.5 * minute }),
		'another body': { ...good, payload: good.payload.replace('delivered', 'bounced') },
		'a space more': { ...good, payload: `${good.payload} ` },
		'another id': { ...good, headers: { ...good.headers, 'svix-id': 'msg_other' } },
		'another version': header(good.headers['svix-signature'].replace('v1', 'v2')),
		'half a signature': header(good.headers['svix-signature'].slice(0, 20)),
		'an empty signature': header('v1,'),
		'no signature': { ...good, headers: { 'content-type': 'application/json' } },
		'no body': { ...good, payload: '' },
	}
	function header(signature: string) {
		return { ...good, headers: { ...good.headers, 'svix-signature': signature } }
	}
	for (const [name, request] of Object.entries(bad))
		await t.notThrowsAsync(async () => {
			isEnvelope(t, await app.inject(request), 401, 'UNAUTHORIZED')
		}, name)
	t.is((await app.inject(good)).statusCode, 200)
	t.is((await app.inject(signedWebhook(event, { at: Date.now() - 4.5 * minute }))).statusCode, 200)
})

test('while the secret is rotated any of several signatures will do', async (t) => {
	const { app } = await setupReports(t)
	const { headers, ...request } = signedWebhook(event)
	const others = 'v1a,AAAA v1,c29tZXRoaW5nIGVsc2U='
	const signature = `${others} ${headers['svix-signature']}`
	const response = await app.inject({
		...request,
		headers: { ...headers, 'svix-signature': signature },
	})
	t.is(response.statusCode, 200)
})

test('without a secret nothing is taken, and the answer says why', async (t) => {
	const { app } = await setup(t)
	const response = await app.inject(signedWebhook(event))
	isEnvelope(t, response, 401, 'UNAUTHORIZED')
	t.regex(response.json().error.suggestion, /RESEND_WEBHOOK_SECRET/)
})

test('a signed event that can’t be used is a 400 or ignored, and harms nothing', async (t) => {
	const { post, execute, handedOver, mail } = await setupReports(t)
	const sent = await handedOver()
	for (const body of ['{', '[]x', 'null', '"text"', '7'])
		isEnvelope(t, await post(body), 400, 'VALIDATION_ERROR')
	const harmless = [
		{},
		[],
		{ type: 'contact.created', data: { id: 'x' } },
		{ type: 'email.bounced' },
		{ type: 'email.bounced', data: {} },
		{ type: 'email.bounced', data: { email_id: 7 } },
		{ type: '__proto__', data: { email_id: 'x' } },
		{ type: 'email.received', data: { from: 'nobody', to: 'x' } },
		resendEvent('bounced', { tags: { email_id: 'x', project_id: "'; drop table emails" } }),
		resendEvent('bounced', { tags: { email_id: sent.id } }, bounce('Permanent')),
		resendEvent('delivered', { id: '\0\uD800' }),
		resendEvent('bounced', {}, { bounce: 'text', tags: 'text' }),
		resendEvent('bounced', {}, { created_at: 'never', tags: [null, 7, { name: 'email_id' }] }),
	]
	for (const body of harmless) t.is((await post(body)).statusCode, 200, JSON.stringify(body))
	t.like(await mail(sent), { status: 'SENT', error: null })
	t.deepEqual(await execute('select 1 from suppressions'), [])
})

test("another project's tag matches no mail", async (t) => {
	const { report, handedOver, mail, newProject } = await setupReports(t)
	const sent = await handedOver()
	const { project } = await newProject()
	await report(
		'delivered',
		sent,
		{},
		{ id: 'unknown', tags: { ...sent.tags, project_id: project.id } },
	)
	t.like(await mail(sent), { status: 'SENT', delivered_at: null })
})

test('a repeated event, even twice at once, is answered 200 and changes nothing', async (t) => {
	const { post, handedOver, eventsOf, execute } = await setupReports(t)
	const sent = await handedOver()
	const body = resendEvent('bounced', { id: sent.resendId, tags: sent.tags }, bounce('Transient'))
	const id = 'msg_the_same'
	const answers = await Promise.all(Array.from({ length: 5 }, () => post(body, { id })))
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode),
		Array(5).fill(200),
	)
	t.is(answers.filter((answer) => !answer.json().duplicate).length, 1)
	t.deepEqual(await eventsOf(sent), ['email.bounce'])
	t.is((await execute('select 1 from provider_events')).length, 1)
})

test('the secret of the webhook is read from the environment', (t) => {
	const settings = readSettings({
		SESSION_SECRET: 'a secret of the tests',
		RESEND_WEBHOOK_SECRET: webhookSecret,
	})
	t.is(settings.resendWebhookSecret, webhookSecret)
})
