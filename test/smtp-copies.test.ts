import test from 'ava'
import { aMessage } from './helpers/message.ts'
import { setupSmtp, type SmtpSetup } from './helpers/smtp.ts'

const cc = [
	{ email: 'bob@example.org', name: 'Böb, Ltd' },
	{ email: 'carl@bücher.example', name: null },
]
const bcc = [{ email: 'dora@example.org', name: 'Dora' }]

async function setup(t: Parameters<typeof setupSmtp>[0], options: SmtpSetup = {}) {
	const all = await setupSmtp(t, options)
	const deliver = (more: object = {}) =>
		all.provider.deliver(aMessage({ recipient: 'ada@example.org', cc, bcc, ...more }))
	return { ...all, deliver }
}

for (const pipelining of [true, false]) {
	const words = `(${pipelining ? '' : 'not '}pipelined)`

	test(`one mail reaches all, and nothing in it names the blind copies ${words}`, async (t) => {
		const { sink, deliver } = await setup(t, { sink: { pipelining } })
		t.like(await deliver(), { kind: 'SENT' })
		const [mail] = sink.mails
		t.is(sink.mails.length, 1)
		t.deepEqual(mail!.recipients, [
			'ada@example.org',
			'bob@example.org',
			'carl@xn--bcher-kva.example',
			'dora@example.org',
		])
		t.regex(mail!.raw, /^Cc: =\?UTF-8\?.*<bob@example\.org>,\r\n carl@xn--bcher-kva\.example\r\n/m)
		t.notRegex(mail!.raw, /dora/i)
		t.notRegex(mail!.raw, /^bcc/im)
	})

	test(`if the recipient is refused, no copy gets the mail ${words}`, async (t) => {
		const { sink, deliver } = await setup(t, {
			sink: { pipelining },
			faults: [{ at: 'rcpt', recipient: 'ada', reply: '550 5.1.1 Unknown', times: 1 }],
		})
		t.deepEqual(await deliver(), {
			kind: 'REJECTED',
			error: 'Recipient refused: 550 5.1.1 Unknown',
			bounce: true,
		})
		t.false(sink.commands.includes('DATA'))
		t.true(sink.commands.includes('RSET'))
		t.like(await deliver(), { kind: 'SENT' })
		t.deepEqual(
			sink.mails.map(({ connection }) => connection),
			[1],
		)
	})

	test(`a refused copy keeps the mail from nobody else ${words}`, async (t) => {
		const { sink, deliver } = await setup(t, {
			sink: { pipelining },
			faults: [
				{ at: 'rcpt', recipient: 'carl', reply: '450 4.2.0 Greylisted' },
				{ at: 'rcpt', recipient: 'dora', reply: '550 5.1.1 Unknown' },
			],
		})
		t.like(await deliver(), {
			kind: 'SENT',
			refusedCopies: {
				'carl@bücher.example': '450 4.2.0 Greylisted',
				'dora@example.org': '550 5.1.1 Unknown',
			},
		})
		t.deepEqual(sink.mails[0]!.recipients, ['ada@example.org', 'bob@example.org'])
	})

	test(`a large mail with copies arrives whole ${words}`, async (t) => {
		const { sink, deliver } = await setup(t, { sink: { pipelining } })
		const html = `<p>${'.word '.repeat(200_000)}</p>`
		t.like(await deliver({ html }), { kind: 'SENT' })
		t.true(sink.mails[0]!.raw.length > 1_200_000)
		t.is(sink.mails[0]!.recipients.length, 4)
		t.like(await deliver(), { kind: 'SENT' })
		t.is(sink.statistics().connections, 1)
	})
}

test('a connection that ends among the recipients has taken nothing', async (t) => {
	const { sink, deliver } = await setup(t, {
		faults: [{ at: 'rcpt', recipient: 'carl', reply: '421 4.3.2 Shutting down', times: 1 }],
	})
	t.like(await deliver(), { kind: 'UNAVAILABLE' })
	t.deepEqual(sink.mails, [])
	t.like(await deliver(), { kind: 'SENT' })
})

test('a connection that ends after the dot leaves a mail with copies in doubt', async (t) => {
	const { deliver } = await setup(t, { faults: [{ at: 'dot', drop: true, take: true }] })
	t.like(await deliver(), { kind: 'UNKNOWN' })
})

test('a mail with copies that is refused at its end is rejected for all', async (t) => {
	const { sink, deliver } = await setup(t, {
		faults: [{ at: 'dot', reply: '554 5.7.1 Spam', times: 1 }],
	})
	t.like(await deliver(), { kind: 'REJECTED', bounce: false })
	t.like(await deliver(), { kind: 'SENT' })
	t.is(sink.statistics().connections, 1)
})

test('a large mail with copies cut short was surely not taken', async (t) => {
	const { deliver } = await setup(t, { faults: [{ at: 'content', drop: true }] })
	t.like(await deliver({ html: 'x'.repeat(20_000_000) }), { kind: 'UNAVAILABLE' })
})

test('an address of a copy that would break out of its command is rejected', async (t) => {
	const { sink, provider } = await setup(t)
	const outcome = await provider.deliverEncoded({
		emailId: 'x',
		projectId: 'x',
		from: 'app@example.com',
		to: 'ada@example.org',
		bcc: ['bob@example.org>\r\nRCPT TO:<eve@example.org'],
		subject: 'Hi',
		content: Buffer.from('Subject: Hi\r\n\r\nHi\r\n'),
	})
	t.like(outcome, { kind: 'REJECTED' })
	t.false(sink.commands.some((command) => command.startsWith('RCPT')))
})
