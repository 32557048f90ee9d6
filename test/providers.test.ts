import test from 'ava'
import { createProvider } from '../activities/providers/choose.ts'
import { localProvider } from '../activities/providers/local.ts'
import { buildMime } from '../activities/rendering/mime.ts'
import { aMessage } from './helpers/message.ts'

const store = async () => {}
const RESEND_API_KEY = 're_test'
const SMTP_URL = 'smtp://localhost'

for (const [settings, name] of [
	[{}, 'local'],
	[{ SMTP_URL }, 'smtp'],
	[{ RESEND_API_KEY }, 'resend'],
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
	[{ RESEND_API_KEY, SMTP_URL }, /RESEND_API_KEY and SMTP_URL are both set/],
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
	const stored: unknown[][] = []
	const provider = localProvider({ store: async (...mail) => void stored.push(mail) })
	const message = aMessage()
	t.deepEqual(await provider.deliver(message), { kind: 'SENT', providerMessageId: null })
	t.deepEqual(stored, [[message, buildMime(message)]])
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
