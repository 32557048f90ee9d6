import test from 'ava'
import { buildMime } from '../activities/rendering/mime.ts'
import { readSmtpUrl } from '../activities/providers/smtp-url.ts'
import { verdict } from '../activities/providers/smtp-verdict.ts'
import { aMessage } from './helpers/message.ts'
import { setupSmtp } from './helpers/smtp.ts'
import type { Fault } from './helpers/smtp-sink.ts'

const sent = { kind: 'SENT' } as const

test('mails one after the other share a connection', async (t) => {
	const { sink, deliver } = await setupSmtp(t)
	for (let i = 0; i < 5; i++) t.like(await deliver(), sent)
	t.is(sink.statistics().connections, 1)
})

for (const lastWord of [undefined, '421 4.4.2 Idle too long', '554 Bye']) {
	test(`an idle connection that the server closed costs no mail (${lastWord ?? 'silently'})`, async (t) => {
		const { sink, deliver } = await setupSmtp(t)
		await deliver()
		await sink.dropIdle(lastWord)
		t.like(await deliver(), sent)
		t.is(sink.statistics().connections, 2)
	})
}

const farewells: Fault[] = [
	{ at: 'mail', drop: true },
	{ at: 'mail', reply: '421 4.4.2 Idle too long' },
	{ at: 'mail', hang: true },
	{ at: 'rcpt', drop: true },
	{ at: 'data', drop: true },
	{ at: 'data', reply: '421 4.7.0 Too many mails here' },
]
for (const fault of farewells) {
	const what = fault.hang ? 'silence' : (fault.reply ?? 'a close')
	test(`a used connection that ends by ${what} at ${fault.at} is replaced by a fresh one`, async (t) => {
		const { sink, deliver } = await setupSmtp(t, { faults: [{ ...fault, times: 0 }] })
		await deliver()
		sink.faults[0]!.times = 1
		t.like(await deliver(), sent)
		t.is(sink.mails.length, 2)
		t.is(sink.statistics().connections, 2)
	})
}

test('a used connection lost after the dot is not replaced: the mail may have been taken', async (t) => {
	const { sink, deliver } = await setupSmtp(t)
	await deliver()
	sink.faults.push({ at: 'dot', drop: true, take: true, times: 1 })
	t.like(await deliver(), { kind: 'UNKNOWN' })
	t.is(sink.mails.length, 2)
})

test('a server that is gone behind a used connection is unavailable', async (t) => {
	const { sink, deliver } = await setupSmtp(t)
	await deliver()
	await sink.stop()
	t.like(await deliver(), { kind: 'UNAVAILABLE' })
	await sink.start()
})

test('a refused mail does not cost the connection, nor the next mail', async (t) => {
	const { sink, deliver } = await setupSmtp(t, {
		faults: [{ at: 'rcpt', recipient: 'nobody', reply: '550 5.1.1 No' }],
	})
	t.like(await deliver('nobody@example.org'), { kind: 'REJECTED' })
	t.like(await deliver(), sent)
	t.is(sink.statistics().connections, 1)
	t.true(sink.commands.includes('RSET'))
})

test('a connection that cannot be reset is not used again', async (t) => {
	const { sink, deliver } = await setupSmtp(t, {
		faults: [
			{ at: 'rcpt', recipient: 'nobody', reply: '550 5.1.1 No' },
			{ at: 'rset', drop: true, times: 1 },
		],
	})
	t.like(await deliver('nobody@example.org'), { kind: 'REJECTED' })
	t.like(await deliver(), sent)
	t.is(sink.statistics().connections, 2)
})

test('never more connections than the pool has, whatever is asked of it', async (t) => {
	const { sink, provider, deliver } = await setupSmtp(t, { concurrency: 4, sink: { delayMs: 5 } })
	const outcomes = await Promise.all(Array.from({ length: 100 }, () => deliver()))
	t.true(outcomes.every(({ kind }) => kind === 'SENT'))
	t.is(provider.concurrency, 4)
	t.is(sink.statistics().connections, 4)
	t.is(sink.statistics().distinct, 100)
})

test('a server that allows fewer connections gets all mail over these', async (t) => {
	const { sink, deliver } = await setupSmtp(t, {
		concurrency: 8,
		sink: { maxConnections: 2, delayMs: 20 },
	})
	await deliver()
	const outcomes = await Promise.all(Array.from({ length: 30 }, () => deliver()))
	t.true(outcomes.every(({ kind }) => kind === 'SENT'))
	t.is(sink.statistics().distinct, 31)
})

test('a connection is ended after its share of mails, and when idle', async (t) => {
	const { sink, deliver } = await setupSmtp(t, { mailsPerConnection: 2, idleMs: 50 })
	for (let i = 0; i < 3; i++) await deliver()
	t.is(sink.statistics().connections, 2)
	while (sink.statistics().open > 0) await new Promise((resolve) => setTimeout(resolve, 10))
	t.is(sink.commands.filter((line) => line === 'QUIT').length, 2)
})

test('closing lets the mail under way arrive', async (t) => {
	const { provider, deliver } = await setupSmtp(t, { sink: { delayMs: 50 } })
	const outcomes = [deliver(), deliver()]
	await new Promise((resolve) => setTimeout(resolve, 20))
	await provider.close()
	for (const outcome of outcomes) t.like(await outcome, sent)
})

test('the mail arrives byte by byte as it was built, dots at line starts included', async (t) => {
	const { sink, provider } = await setupSmtp(t)
	const message = aMessage({ text: '.\n..\n.hidden\nGrüße\n.', html: '<p>\n.\n</p>' })
	await provider.deliver(message)
	t.is(sink.mails[0]!.raw, buildMime(message).toString())
	t.like(sink.mails[0], {
		from: 'hello@example.com',
		to: 'ada@example.org',
		emailId: message.emailId,
		messageId: message.messageId,
	})
})

test('an international domain is asked for in ASCII', async (t) => {
	const { sink, deliver } = await setupSmtp(t)
	t.like(await deliver('ada@bücher.example'), sent)
	t.is(sink.mails[0]!.to, 'ada@xn--bcher-kva.example')
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

test('SMTP_URL says where, who, how many and how secure', (t) => {
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
