import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import type { ReadyMail } from '../outside/providers/provider.ts'
import { smtpProvider } from '../outside/providers/smtp.ts'
import { buildMime } from '../mail/mime/mime.ts'
import { aMessage } from './helpers/message.ts'
import { setupSmtp, type SmtpSetup } from './helpers/smtp.ts'
import { faultRows } from './helpers/smtp-faults.ts'

const sent = { kind: 'SENT' } as const

function ready(
	recipient = 'ada@example.org',
	withdrawal = new AbortController().signal,
): ReadyMail & { emailId: string } {
	const message = aMessage({ recipient })
	const raw = buildMime(message).toString('latin1')
	return {
		emailId: message.emailId,
		from: message.from.email,
		to: recipient,
		raw: () => raw,
		withdrawal,
	}
}

async function setup(t: Parameters<typeof setupSmtp>[0], options: SmtpSetup = {}) {
	const { sink, provider } = await setupSmtp(t, options)
	return { sink, provider, hand: (mail = ready()) => provider.deliverReady!(mail) }
}

for (const { name, fault, expected, taken = 0 } of faultRows) {
	for (const pipelining of [true, false]) {
		test(`campaign mail: ${name} (${pipelining ? '' : 'not '}pipelined)`, async (t) => {
			const { sink, hand } = await setup(t, { sink: { pipelining }, faults: [fault] })
			t.like(await hand(), expected)
			t.is(sink.mails.length, taken)
		})
	}
}

test('campaign mails follow each other on a connection, each envelope ahead of the last answer', async (t) => {
	const { sink, hand } = await setup(t, { concurrency: 1, sink: { delayMs: 2 } })
	const mails = Array.from({ length: 50 }, (_, i) => ready(`r${i}@example.org`))
	for (const outcome of await Promise.all(mails.map(hand))) t.like(outcome, sent)
	t.is(sink.statistics().connections, 1)
	t.deepEqual(
		sink.mails.map(({ to, emailId, raw }) => ({ to, emailId, raw })),
		mails.map(({ to, emailId, raw }) => ({ to, emailId, raw: raw() })),
	)
	// Each DATA was sent before the result of the mail before it was known.
	t.false(sink.commands.includes('RSET'))
})

test('a connection is kept when no more campaign mail waits for it', async (t) => {
	const { sink, hand } = await setup(t, { concurrency: 1 })
	for (let i = 0; i < 3; i++) t.like(await hand(), sent)
	t.is(sink.statistics().connections, 1)
})

test('a server that wants fewer connections gets all campaign mail on fewer', async (t) => {
	const { sink, hand } = await setup(t, {
		concurrency: 8,
		sink: { maxConnections: 1, delayMs: 5 },
	})
	const mails = Array.from({ length: 60 }, (_, i) => ready(`r${i}@example.org`))
	for (const outcome of await Promise.all(mails.map((mail) => hand(mail)))) t.like(outcome, sent)
	t.is(sink.mails.length, mails.length)
})

test('a server that refuses every connection is tried once per connection, and all waiting mails learn it', async (t) => {
	let asked = 0
	const server = createServer((socket) => {
		asked += 1
		socket.end('535 5.7.8 Not you\r\n')
	}).listen(0, '127.0.0.1')
	await once(server, 'listening')
	t.teardown(() => server.close())
	const { port } = server.address() as AddressInfo
	const provider = smtpProvider({ url: `smtp://127.0.0.1:${port}`, concurrency: 8 })
	t.teardown(() => provider.close())
	const mails = Array.from({ length: 50 }, (_, i) => ready(`r${i}@example.org`))
	const outcomes = await Promise.all(mails.map((mail) => provider.deliverReady!(mail)))
	for (const { kind } of outcomes) t.is(kind, 'UNAVAILABLE')
	t.is(asked, 7)
})

for (const pipelining of [true, false]) {
	test(`refused mails cost neither their neighbours nor the connection (${pipelining ? '' : 'not '}pipelined)`, async (t) => {
		const { sink, hand } = await setup(t, {
			concurrency: 1,
			sink: { pipelining },
			faults: [
				{ at: 'mail', recipient: 'nobody', reply: '550 5.1.1 never' },
				{ at: 'rcpt', recipient: 'unknown', reply: '550 5.1.1 User unknown' },
				{ at: 'data', recipient: 'late', reply: '451 4.3.0 Later' },
				{ at: 'dot', recipient: 'spam', reply: '554 5.7.1 Spam' },
			],
		})
		const names = [
			'ann',
			'unknown',
			'bob',
			'late',
			'spam',
			'cid',
			'unknown',
			'unknown',
			'dan',
			'late',
		]
		const outcomes = await Promise.all(names.map((name) => hand(ready(`${name}@example.org`))))
		t.deepEqual(
			outcomes.map(({ kind }) => kind),
			[
				'SENT',
				'REJECTED',
				'SENT',
				'DEFERRED',
				'REJECTED',
				'SENT',
				'REJECTED',
				'REJECTED',
				'SENT',
				'DEFERRED',
			],
		)
		t.like(outcomes[1], { bounce: true, error: 'Recipient refused: 550 5.1.1 User unknown' })
		t.is(sink.statistics().connections, 1)
		t.deepEqual(
			sink.mails.map(({ to }) => to.split('@')[0]),
			['ann', 'bob', 'cid', 'dan'],
		)
		t.like(await hand(), sent)
		// A refused transaction stays open until it is reset: another MAIL in it would be refused, too.
		const resets = sink.commands.filter((line) => line === 'RSET').length
		t.is(resets, names.filter((name) => name === 'unknown' || name === 'late').length)
	})
}

test('a server that wants the content of a refused mail gets none', async (t) => {
	const heard: string[] = []
	const server = createServer((socket) => {
		let isContent = false
		socket.write('220 odd\r\n')
		createInterface(socket).on('line', (line) => {
			heard.push(line)
			if (isContent && line !== '.') return
			const isEnd = isContent
			isContent = line === 'DATA'
			if (isEnd) socket.write(heard.at(-2) === 'DATA' ? '554 5.5.1 Nobody\r\n' : '250 Ok\r\n')
			else if (line.startsWith('EHLO')) socket.write('250-odd\r\n250 PIPELINING\r\n')
			else if (isContent) socket.write('354 Go ahead\r\n')
			else socket.write(line.includes('unknown') ? '550 5.1.1 User unknown\r\n' : '250 Ok\r\n')
		})
	}).listen(0, '127.0.0.1')
	await once(server, 'listening')
	t.teardown(() => server.close())
	const { port } = server.address() as AddressInfo // it listens on TCP
	const { hand } = await setup(t, { url: `smtp://127.0.0.1:${port}`, concurrency: 1 })
	const [refused, next] = await Promise.all([hand(ready('unknown@example.org')), hand()])
	t.like(refused, { kind: 'REJECTED', bounce: true })
	t.like(next, sent)
	t.is(heard[heard.indexOf('DATA') + 1], '.')
})

test('a broken connection leaves one mail in doubt, and the others arrive', async (t) => {
	const { sink, hand } = await setup(t, {
		concurrency: 4,
		faults: [{ at: 'dot', drop: true, take: true, times: 3 }],
	})
	const outcomes = await Promise.all(Array.from({ length: 200 }, () => hand()))
	const kinds = outcomes.map(({ kind }) => kind)
	t.is(kinds.filter((kind) => kind === 'UNKNOWN').length, 3)
	t.is(kinds.filter((kind) => kind === 'SENT').length, 197)
	t.is(sink.statistics().accepted, 200)
	t.is(sink.distinct(), 200)
})

test('a server with a limit of mails per connection gets the rest on others', async (t) => {
	const { sink, hand } = await setup(t, { concurrency: 2, mailsPerConnection: 7 })
	const outcomes = await Promise.all(Array.from({ length: 40 }, () => hand()))
	t.true(outcomes.every(({ kind }) => kind === 'SENT'))
	t.is(sink.distinct(), 40)
	t.true(sink.statistics().connections >= 6)
})

for (const pipelining of [true, false])
	test(`a server that ends each connection after a mail gets all of them (${pipelining ? '' : 'not '}pipelined)`, async (t) => {
		const { sink, hand } = await setup(t, {
			concurrency: 8,
			sink: { pipelining, mailsPerConnection: 1, delayMs: 2 },
		})
		const outcomes = await Promise.all(Array.from({ length: 60 }, () => hand()))
		t.true(outcomes.every(({ kind }) => kind === 'SENT'))
		t.is(sink.distinct(), 60)
		t.is(sink.mails.length, 60)
	})

test('a single mail is not kept waiting by a campaign that has every connection', async (t) => {
	const { sink, provider, hand } = await setup(t, { concurrency: 1, sink: { delayMs: 5 } })
	const campaign = Promise.all(
		Array.from({ length: 100 }, (_, i) => hand(ready(`many-${i}@example.org`))),
	)
	while (sink.mails.length < 3) await new Promise((resolve) => setTimeout(resolve, 1))
	t.like(await provider.deliver(aMessage({ recipient: 'urgent@example.org' })), sent)
	const place = sink.mails.findIndex(({ to }) => to === 'urgent@example.org')
	t.true(place < 10, `it came after ${place} others`)
	t.true((await campaign).every(({ kind }) => kind === 'SENT'))
})

test('an answer before the end of a mail ends the connection, and no later mail takes it for its own', async (t) => {
	const { sink, hand } = await setup(t, {
		concurrency: 1,
		faults: [{ at: 'content', reply: '451 4.3.0 Stop', times: 1 }],
		timeouts: { connectMs: 3000, envelopeMs: 3000, answerMs: 3000 },
	})
	const outcomes = await Promise.all([hand(), hand(), hand()])
	t.is(outcomes[0]!.kind, 'DEFERRED')
	const taken = outcomes.filter(({ kind }) => kind === 'SENT').length
	t.is(sink.mails.length, taken)
})

test('a mail that cannot be composed is rejected, its neighbours go', async (t) => {
	const { sink, hand } = await setup(t)
	const bad = {
		...ready(),
		raw: () => {
			throw new Error('To must not contain line breaks')
		},
	}
	const breakout = { ...ready(), to: 'ada@example.org>\r\nRCPT TO:<eve@example.org' }
	const outcomes = await Promise.all([hand(), hand(bad), hand(breakout), hand()])
	t.deepEqual(
		outcomes.map(({ kind }) => kind),
		['SENT', 'REJECTED', 'REJECTED', 'SENT'],
	)
	t.is(sink.mails.length, 2)
})

test('under random faults, campaign mail called sent was accepted once, and mail called unsent was not', async (t) => {
	const storm = faultRows.map(({ fault }, index) => ({ ...fault, recipient: `storm-${index}@` }))
	const { sink, hand } = await setup(t, {
		concurrency: 8,
		faults: storm.filter(({ at, hang }) => at !== 'connect' && at !== 'ehlo' && !hang),
	})
	const closing = setInterval(() => void sink.dropIdle(), 3)
	const mails = Array.from({ length: 1500 }, (_, index) =>
		ready(`${index % 3 ? 'calm' : `storm-${index % storm.length}`}@example.org`),
	)
	const outcomes = await Promise.all(mails.map(hand))
	clearInterval(closing)
	const kinds = new Set(outcomes.map(({ kind }) => kind))
	t.deepEqual([...kinds].sort(), ['DEFERRED', 'REJECTED', 'SENT', 'UNAVAILABLE', 'UNKNOWN'])
	const taken = new Map<string | null, number>()
	for (const { emailId } of sink.mails) taken.set(emailId, (taken.get(emailId) ?? 0) + 1)
	mails.forEach(({ emailId, to }, index) => {
		const { kind } = outcomes[index]!
		const times = taken.get(emailId) ?? 0
		if (kind === 'SENT') t.is(times, 1, to)
		else if (kind === 'UNKNOWN') t.true(times <= 1, to)
		else t.is(times, 0, `${to} ${kind}`)
	})
})

for (const pipelining of [true, false])
	test(`withdrawn mails don’t leave, but for those whose content has left (${pipelining ? '' : 'not '}pipelined)`, async (t) => {
		const { sink, hand } = await setup(t, { concurrency: 1, sink: { pipelining, delayMs: 1000 } })
		const withdrawal = new AbortController()
		const handed = ['on its way', 'announced', 'queued'].map((name) =>
			hand(ready(`${name.replaceAll(' ', '-')}@example.org`, withdrawal.signal)),
		)
		const other = hand(ready('other@example.org'))
		while (!sink.commands.some((command) => command.startsWith('DATA'))) await sleep(5)
		await sleep(100)
		let isAnswered = false
		void handed[0]!.then(() => (isAnswered = true))
		withdrawal.abort()
		t.deepEqual(await handed[2], { kind: 'WITHDRAWN' })
		t.false(isAnswered, 'it does not wait for the server')
		t.like(await handed[0], sent)
		t.deepEqual(await handed[1], { kind: 'WITHDRAWN' })
		t.like(await other, sent)
		t.deepEqual(await hand(ready('late@example.org', withdrawal.signal)), { kind: 'WITHDRAWN' })
		t.deepEqual(
			sink.mails.map(({ to }) => to),
			['on-its-way@example.org', 'other@example.org'],
		)
	})
