import test from 'ava'
import { Webhook } from 'standardwebhooks'
import { TempostError, webhooks } from '../client/index.ts'
import { setup } from './helpers/app.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const otherSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const body = JSON.stringify({
	type: 'email.bounced',
	timestamp: '2026-11-23T09:30:00.000Z',
	data: { email: 'ann@example.org', subject: 'Grüße' },
})

/** Signed by the library of Standard Webhooks. */
function signed(at = new Date(), by = secret) {
	const signature = new Webhook(by).sign('msg_1', at, body)
	return {
		'webhook-id': 'msg_1',
		'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
		'webhook-signature': signature,
	}
}

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

test('a signed webhook is verified in every form in which servers have its headers and body', async (t) => {
	const headers = signed()
	const titled = {
		'Webhook-Id': 'msg_1',
		'Webhook-Timestamp': headers['webhook-timestamp'],
		'Webhook-Signature': headers['webhook-signature'],
	}
	for (const form of [headers, titled, new Headers(headers)])
		t.is((await webhooks.verify(form, body, secret)).type, 'email.bounced')
	const bytes = new TextEncoder().encode(body)
	for (const form of [bytes, bytes.buffer, Buffer.from(body)]) {
		const event = await webhooks.verify(headers, form, secret)
		t.is(event.type === 'email.bounced' && event.data.subject, 'Grüße')
	}
})

test('one signature of several, and one secret of several, are enough', async (t) => {
	const headers = signed()
	const both = {
		...headers,
		'webhook-signature': `${signed(new Date(), otherSecret)['webhook-signature']} ${headers['webhook-signature']}`,
	}
	t.is((await webhooks.verify(both, body, secret)).type, 'email.bounced')
	t.is((await webhooks.verify(headers, body, [otherSecret, secret])).type, 'email.bounced')
})

const refused = (promise: Promise<unknown>) =>
	promise.then(
		() => undefined,
		(error: unknown) =>
			error instanceof TempostError && error.code === 'INVALID_SIGNATURE' && error.message,
	)

test('a secret that is missing, empty or no base64 is named as the fault', async (t) => {
	for (const wrong of [undefined, '', 'whsec_', 'whsec_not base64!'])
		t.is(
			await refused(webhooks.verify(signed(), body, wrong as string)),
			'The secret is not valid',
			wrong,
		)
})

test('a body, an id or a time that was changed is refused, and so is another secret', async (t) => {
	const headers = signed()
	for (const attempt of [
		webhooks.verify(headers, body.replace('ann', 'eve'), secret),
		webhooks.verify({ ...headers, 'webhook-id': 'msg_2' }, body, secret),
		webhooks.verify(
			{ ...headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 60) },
			body,
			secret,
		),
		webhooks.verify(headers, body, otherSecret),
		webhooks.verify({ ...headers, 'webhook-signature': 'v1,' }, body, secret),
		webhooks.verify(
			{ ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') },
			body,
			secret,
		),
	])
		t.is(await refused(attempt), 'No signature matches')
})

test('a request is accepted for five minutes, and one from the future as well', async (t) => {
	for (const minutes of [4.9, -4.9])
		t.is((await webhooks.verify(signed(minutesAgo(minutes)), body, secret)).type, 'email.bounced')
	t.regex(String(await refused(webhooks.verify(signed(minutesAgo(5.1)), body, secret))), /too old/)
	t.regex(String(await refused(webhooks.verify(signed(minutesAgo(-5.1)), body, secret))), /future/)
	const noTime = { ...signed(), 'webhook-timestamp': 'now' }
	t.regex(String(await refused(webhooks.verify(noTime, body, secret))), /time/)
})

test('missing headers, a parsed body and a secret of another kind are named', async (t) => {
	t.is(await refused(webhooks.verify({}, body, secret)), 'The header webhook-id is missing')
	t.is(await refused(webhooks.verify(signed(), body, 'whsec_*')), 'The secret is not valid')
	const parsed = JSON.parse(body) as string
	t.is(await refused(webhooks.verify(signed(), parsed, secret)), 'The body has been parsed')
})

test('every documented webhook is an event of the client with its example payload', async (t) => {
	const { app } = await setup(t)
	const { webhooks: documented } = (await app.inject('/openapi.json')).json<{
		webhooks: Record<
			string,
			{ post: { requestBody: { content: Record<string, { example: { type: string } }> } } }
		>
	}>()
	t.true(Object.keys(documented).length >= 29)
	for (const [name, { post }] of Object.entries(documented)) {
		const { example } = post.requestBody.content['application/json']!
		const text = JSON.stringify(example)
		const at = new Date()
		const headers = {
			...signed(at),
			'webhook-signature': new Webhook(secret).sign('msg_1', at, text),
		}
		t.deepEqual(await webhooks.verify(headers, text, secret), example as never, name)
	}
})
