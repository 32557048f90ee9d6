import test from 'ava'
import { buildMime } from '../mail/mime/mime.ts'
import { aMessage } from './helpers/message.ts'
import { setupSmtp } from './helpers/smtp.ts'
import { faultRows } from './helpers/smtp-faults.ts'
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
	test(`a used connection that ends with ${what} at ${fault.at} is replaced by a fresh one`, async (t) => {
		// Long enough for the mails that are taken.
		const timeouts = { connectMs: 10_000, envelopeMs: 3000, answerMs: 10_000 }
		const { sink, deliver } = await setupSmtp(t, { faults: [{ ...fault, times: 0 }], timeouts })
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

test('a server that has disappeared behind a used connection is unavailable', async (t) => {
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

for (const fault of [{ drop: true }, { reply: '500 5.5.2 What?' }]) {
	test(`a connection that cannot be reset is not used again (${Object.keys(fault)[0]})`, async (t) => {
		const { sink, deliver } = await setupSmtp(t, {
			faults: [
				{ at: 'rcpt', recipient: 'nobody', reply: '550 5.1.1 No' },
				{ at: 'rset', times: 1, ...fault },
			],
		})
		t.like(await deliver('nobody@example.org'), { kind: 'REJECTED' })
		t.like(await deliver(), sent)
		t.is(sink.statistics().connections, 2)
	})
}

test('a mail that meets one dead connection is not given to a second one', async (t) => {
	const { sink, deliver } = await setupSmtp(t, { sink: { delayMs: 20 } })
	await Promise.all([deliver(), deliver()])
	t.is(sink.statistics().connections, 2)
	sink.faults.push({ at: 'mail', drop: true, connections: 2 })
	t.like(await deliver(), sent)
})

test('a fresh connection that fails is not tried again at once', async (t) => {
	const { sink, deliver } = await setupSmtp(t, { faults: [{ at: 'mail', drop: true }] })
	t.like(await deliver(), { kind: 'UNAVAILABLE' })
	t.is(sink.statistics().connections, 1)
})

test('the pool never opens more connections than its size', async (t) => {
	const { sink, provider, deliver } = await setupSmtp(t, { concurrency: 4, sink: { delayMs: 5 } })
	const outcomes = await Promise.all(Array.from({ length: 100 }, () => deliver()))
	t.true(outcomes.every(({ kind }) => kind === 'SENT'))
	t.is(provider.concurrency, 4)
	t.is(sink.statistics().connections, 4)
	t.is(sink.distinct(), 100)
})

test('a server that allows fewer connections gets all mail over these', async (t) => {
	const { sink, deliver } = await setupSmtp(t, {
		concurrency: 8,
		sink: { maxConnections: 2, delayMs: 20 },
	})
	await deliver()
	const outcomes = await Promise.all(Array.from({ length: 30 }, () => deliver()))
	t.true(outcomes.every(({ kind }) => kind === 'SENT'))
	t.is(sink.distinct(), 31)
})

test('a connection is ended after its share of mails, and when idle', async (t) => {
	const { sink, deliver } = await setupSmtp(t, { mailsPerConnection: 2, idleMs: 50 })
	for (let i = 0; i < 3; i++) await deliver()
	t.is(sink.statistics().connections, 2)
	while (sink.statistics().open > 0) await new Promise((resolve) => setTimeout(resolve, 10))
	t.is(sink.commands.filter((line) => line === 'QUIT').length, 2)
})

test('closing lets the mail under way arrive', async (t) => {
	const { sink, provider, deliver } = await setupSmtp(t, { sink: { delayMs: 50 } })
	const kinds: string[] = []
	for (let i = 0; i < 2; i++) void deliver().then(({ kind }) => kinds.push(kind))
	while (sink.statistics().open < 2) await new Promise((resolve) => setTimeout(resolve, 1))
	await provider.close()
	t.deepEqual(kinds, ['SENT', 'SENT'])
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

test('an international domain is sent to the server in ASCII', async (t) => {
	const { sink, deliver } = await setupSmtp(t)
	t.like(await deliver('ada@bücher.example'), sent)
	t.is(sink.mails[0]!.to, 'ada@xn--bcher-kva.example')
})

test('under random faults, mail called sent was accepted once, and mail called unsent was not', async (t) => {
	const storm = faultRows.map(({ fault }, index) => ({ ...fault, recipient: `storm-${index}@` }))
	const { sink, provider } = await setupSmtp(t, {
		concurrency: 8,
		faults: storm.filter(({ at, hang }) => at !== 'connect' && at !== 'ehlo' && !hang),
	})
	const closing = setInterval(() => void sink.dropIdle(), 3)
	const messages = Array.from({ length: 600 }, (_, index) =>
		aMessage({ recipient: `${index % 3 ? 'calm' : `storm-${index % storm.length}`}@example.org` }),
	)
	const outcomes = await Promise.all(messages.map((message) => provider.deliver(message)))
	clearInterval(closing)
	const seen = new Map<string, number>()
	for (const { kind } of outcomes) seen.set(kind, (seen.get(kind) ?? 0) + 1)
	t.deepEqual([...seen.keys()].sort(), ['DEFERRED', 'REJECTED', 'SENT', 'UNAVAILABLE', 'UNKNOWN'])
	const ids = sink.mails.map(({ emailId }) => emailId)
	t.is(new Set(ids).size, ids.length)
	messages.forEach(({ emailId, to }, index) => {
		const { kind } = outcomes[index]!
		const taken = ids.filter((id) => id === emailId).length
		if (kind === 'SENT') t.is(taken, 1, to.email)
		else if (kind !== 'UNKNOWN') t.is(taken, 0, to.email)
		if (to.email.startsWith('calm')) t.is(kind, 'SENT')
	})
})
