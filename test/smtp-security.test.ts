import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { smtpProvider } from '../outside/providers/smtp.ts'
import { verifyDkim } from './helpers/dkim.ts'
import { aMessage } from './helpers/message.ts'
import { setupSmtp } from './helpers/smtp.ts'

/** A server with TLS and logins; its certificate is self-signed. */
async function secureServer(t: ExecutionContext, options: SMTPServerOptions = {}) {
	const mails: { raw: string; user: string | undefined; secure: boolean }[] = []
	const server = new SMTPServer({
		authOptional: true,
		onAuth: ({ username, password }, _, done) =>
			password === 's3cret%' ? done(null, { user: username }) : done(new Error('Wrong password')),
		onData(stream, { user, secure }, done) {
			const chunks: Buffer[] = []
			stream.on('data', (chunk: Buffer) => chunks.push(chunk))
			stream.on('end', () => {
				mails.push({ raw: Buffer.concat(chunks).toString(), user, secure })
				done()
			})
		},
		...options,
	})
	server.on('error', () => {})
	server.listen(0, '127.0.0.1')
	await once(server.server, 'listening')
	t.teardown(() => new Promise<void>((resolve) => server.close(resolve)))
	return { mails, port: (server.server.address() as AddressInfo).port }
}

async function deliverTo(t: ExecutionContext, url: string) {
	const provider = smtpProvider({ url, timeouts: { connectMs: 10_000 } })
	const outcome = await provider.deliver(aMessage())
	await provider.close()
	return outcome
}

const trusting = 'tls.rejectUnauthorized=false'

test('STARTTLS is used where it is offered, and the login given over it', async (t) => {
	const { mails, port } = await secureServer(t)
	const outcome = await deliverTo(t, `smtp://me:s3cret%25@127.0.0.1:${port}?${trusting}`)
	t.is(outcome.kind, 'SENT')
	t.like(mails[0], { user: 'me', secure: true })
})

test('smtps speaks TLS from the first byte', async (t) => {
	const { mails, port } = await secureServer(t, { secure: true })
	const outcome = await deliverTo(t, `smtps://me:s3cret%25@127.0.0.1:${port}?${trusting}`)
	t.is(outcome.kind, 'SENT')
	t.like(mails[0], { user: 'me', secure: true })
})

for (const [protocol, secure] of [
	['smtp', false],
	['smtps', true],
] as const) {
	test(`${protocol}: a server with an untrusted certificate is unavailable`, async (t) => {
		const { mails, port } = await secureServer(t, { secure })
		const outcome = await deliverTo(t, `${protocol}://127.0.0.1:${port}`)
		t.like(outcome, { kind: 'UNAVAILABLE' })
		t.regex('error' in outcome ? outcome.error : '', /certificate/)
		t.is(mails.length, 0)
	})
}

test('required TLS that is not offered is unavailable', async (t) => {
	const { sink, deliver } = await setupSmtp(t)
	t.like(await deliver(), { kind: 'SENT' })
	t.like(await deliverTo(t, `${sink.url}?requireTLS=true`), { kind: 'UNAVAILABLE' })
})

test('plain SMTP against a TLS port is unavailable', async (t) => {
	const { port } = await secureServer(t, { secure: true })
	const provider = smtpProvider({
		url: `smtp://127.0.0.1:${port}`,
		timeouts: { connectMs: 500 },
	})
	t.like(await provider.deliver(aMessage()), { kind: 'UNAVAILABLE' })
})

test('a refused login makes the provider unavailable, without revealing the password', async (t) => {
	const { mails, port } = await secureServer(t)
	const outcome = await deliverTo(t, `smtp://me:wrong-pass@127.0.0.1:${port}?${trusting}`)
	t.like(outcome, { kind: 'UNAVAILABLE' })
	const error = 'error' in outcome ? outcome.error : ''
	t.regex(error, /Invalid login: 535/)
	t.notRegex(error, /wrong-pass/)
	t.is(mails.length, 0)
})

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
	modulusLength: 2048,
	publicKeyEncoding: { type: 'spki', format: 'pem' },
	privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const dkim = { domain: 'example.com', selector: 'tempost', privateKey }

test('a mail signed with the domain key verifies as it arrives, dots and umlauts included', async (t) => {
	const { sink, provider } = await setupSmtp(t)
	const message = aMessage({
		subject: 'Grüße',
		text: '.\n..\nGrüße  \n\n\n',
		headers: {
			'List-Unsubscribe': '<https://example.com/u>',
			'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
		},
	})
	t.like(await provider.deliver(message, dkim), { kind: 'SENT' })
	const { raw, emailId } = sink.mails[0]!
	const { isValid, tags } = verifyDkim(raw, publicKey)
	t.true(isValid)
	t.is(emailId, message.emailId)
	t.is(tags.get('d'), 'example.com')
	t.is(tags.get('s'), 'tempost')
	const covered = tags.get('h')!.toLowerCase().split(':')
	for (const name of ['from', 'to', 'subject', 'message-id', 'list-unsubscribe-post'])
		t.true(covered.includes(name), name)
	t.false(verifyDkim(raw.replace('Subject: ', 'Subject: no '), publicKey).isValid)
	t.false(verifyDkim(raw.replace('Good day', 'Bad day'), publicKey).isValid)
})

const ed25519 = generateKeyPairSync('ed25519', {
	publicKeyEncoding: { type: 'spki', format: 'pem' },
	privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
for (const [name, key] of [
	['no key', 'no key'],
	['of another kind', ed25519.privateKey],
] as const) {
	test(`a key that cannot sign (${name}) defers the mail instead of letting it go unsigned`, async (t) => {
		const { sink, provider } = await setupSmtp(t)
		const outcome = await provider.deliver(aMessage(), { ...dkim, privateKey: key })
		t.like(outcome, { kind: 'DEFERRED', error: 'The DKIM key of example.com cannot be used' })
		t.is(sink.mails.length, 0)
	})
}
