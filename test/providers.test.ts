import test from 'ava'
import { createProvider } from '../outside/providers/choose.ts'
import { localProvider } from '../outside/providers/local.ts'
import { readSmtpUrl } from '../outside/providers/smtp-url.ts'
import { verdict } from '../outside/providers/smtp-verdict.ts'
import { withContent } from '../mail/encoding.ts'
import { buildMime } from '../mail/mime/mime.ts'
import { aMessage } from './helpers/message.ts'

const store = async () => {}
const RESEND_API_KEY = 're_test'
const SMTP_URL = 'smtp://localhost'

for (const [settings, name] of [
	[{}, 'local'],
	[{ SMTP_URL }, 'smtp'],
	[{ RESEND_API_KEY }, 'resend'],
	[{ RESEND_API_KEY, SMTP_URL }, 'resend'],
	[{ RESEND_API_KEY, SMTP_URL, EMAIL_PROVIDER: 'smtp' }, 'smtp'],
	[{ RESEND_API_KEY, SMTP_URL, EMAIL_PROVIDER: 'local' }, 'local'],
] as const) {
	test(`${Object.keys(settings).join(', ') || 'nothing'} set means ${name}`, async (t) => {
		const provider = createProvider(settings, { store })
		t.is(provider.name, name)
		await provider.close()
	})
}

for (const [settings, message] of [
	[{ EMAIL_PROVIDER: 'smtp', RESEND_API_KEY }, /SMTP_URL is not set/],
	[{ EMAIL_PROVIDER: 'resend', SMTP_URL }, /RESEND_API_KEY is not set/],
	[{ EMAIL_PROVIDER: 'pigeon' }, /must be resend, smtp or local, not pigeon/],
	[{ SMTP_URL: 'mail.example.com' }, /SMTP_URL must look like/],
	[{ RESEND_API_KEY, RESEND_BASE_URL: 'nonsense' }, /RESEND_BASE_URL/],
] as const) {
	test(`refused, because ${message.source}`, (t) => {
		t.throws(() => createProvider(settings, { store }), { message })
	})
}

test('the local mailbox gets the message and its source', async (t) => {
	const stored: unknown[] = []
	const provider = localProvider({ store: async (mail) => void stored.push(mail) })
	const message = aMessage()
	t.deepEqual(await provider.deliver(message), { kind: 'SENT', providerMessageId: null })
	t.deepEqual(stored, [withContent(message, buildMime(message))])
	t.true(provider.idempotent)
})

test('a mailbox that cannot store is unavailable', async (t) => {
	const provider = localProvider({ store: () => Promise.reject(new Error('disk full')) })
	t.like(await provider.deliver(aMessage()), {
		kind: 'UNAVAILABLE',
		error: 'The mailbox: disk full',
	})
})

test('a mail that cannot be built is rejected', async (t) => {
	const message = aMessage({ headers: { 'X-Note': 'one\r\nBcc: eve@example.org' } })
	t.like(await localProvider({ store }).deliver(message), { kind: 'REJECTED', bounce: false })
})

test('the queue id of well-known servers is kept', (t) => {
	const replies = [
		['250 2.0.0 Ok: queued as 4Xk7Qz2m3Yz9', '4Xk7Qz2m3Yz9'],
		['250 OK id=1rVz5C-0000Gd-2T', '1rVz5C-0000Gd-2T'],
		['250 2.0.0 3AB8CDEF012345 Message accepted for delivery', '3AB8CDEF012345'],
		['250 Ok 0100018b5c3c0a4f-11aa-000000', '0100018b5c3c0a4f-11aa-000000'],
		['250 Message Queued (9B1C.1)', '9B1C.1'],
		['250 Great success', null],
	] as const
	for (const [reply, providerMessageId] of replies)
		t.deepEqual(verdict({ reply }), { kind: 'SENT', providerMessageId })
})

test('SMTP_URL sets the server, login, connections and security', (t) => {
	t.like(readSmtpUrl('smtps://us%40er:p%3Ass@[::1]:4465?pool=3&requireTLS=true&name=me.example'), {
		pool: 3,
		connection: { host: '::1', port: '4465', secure: true, requireTLS: true, name: 'me.example' },
		auth: { user: 'us@er', pass: 'p:ss' },
	})
	t.like(readSmtpUrl('smtp://localhost'), { pool: 20, connection: { secure: false }, auth: null })
})

for (const url of [
	'localhost:25',
	'http://localhost',
	'smtp://',
	'smtp://localhost?pool=0',
	'smtp://localhost?pol=20',
	'smtp://100%25:50%@localhost',
]) {
	test(`SMTP_URL ${url} is refused with a reason`, (t) => {
		t.throws(() => readSmtpUrl(url), { message: /SMTP_URL/ })
	})
}
