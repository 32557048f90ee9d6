import test from 'ava'
import { faultRows, rejected, unavailable } from './helpers/smtp-faults.ts'
import { aMessage } from './helpers/message.ts'
import { setupSmtp } from './helpers/smtp.ts'
import type { Fault } from './helpers/smtp-sink.ts'

for (const { name, fault, expected, taken = 0 } of faultRows) {
	for (const pipelining of [true, false]) {
		test(`${name} (${pipelining ? '' : 'not '}pipelined)`, async (t) => {
			const { sink, deliver } = await setupSmtp(t, { sink: { pipelining }, faults: [fault] })
			t.like(await deliver(), expected)
			t.is(sink.mails.length, taken)
		})
	}
}

test('a refused connection is unavailable', async (t) => {
	const { sink, deliver } = await setupSmtp(t)
	await sink.stop()
	t.like(await deliver(), unavailable)
	await sink.start()
	t.like(await deliver(), { kind: 'SENT' })
})

test('an unknown host is unavailable', async (t) => {
	const { deliver } = await setupSmtp(t, { url: 'smtp://nowhere.invalid' })
	t.like(await deliver(), unavailable)
})

const big = () => ({
	filename: 'big',
	contentType: 'application/zip',
	contentId: null,
	disposition: 'attachment' as const,
	content: Buffer.alloc(12_000_000),
})

const cuts: Fault[] = [
	{ at: 'content', drop: true },
	{ at: 'content', hang: true },
]
for (const fault of cuts) {
	test(`a big mail cut short by a ${fault.drop ? 'drop' : 'stall'} was surely not taken`, async (t) => {
		const { provider } = await setupSmtp(t, { faults: [fault] })
		t.like(await provider.deliver(aMessage({ attachments: [big()] })), unavailable)
	})
}

test('a big mail refused half-way is rejected, and the connection is not used again', async (t) => {
	const fault: Fault = { at: 'content', reply: '552 5.3.4 Too big', times: 1 }
	t.timeout(10_000, 'the connection was kept')
	const timeouts = { envelopeMs: 60_000, answerMs: 60_000 }
	const { sink, provider, deliver } = await setupSmtp(t, {
		faults: [fault],
		idleMs: 60_000,
		timeouts,
	})
	t.like(await provider.deliver(aMessage({ attachments: [big()] })), rejected)
	while (sink.statistics().open > 0) await new Promise((resolve) => setTimeout(resolve, 10))
	t.like(await deliver(), { kind: 'SENT' })
	t.is(sink.statistics().connections, 2)
})

test('a mail over the announced size is rejected without being handed over', async (t) => {
	const { sink, deliver } = await setupSmtp(t, { sink: { size: 100 } })
	t.like(await deliver(), rejected)
	t.false(sink.commands.includes('DATA'))
})

test('an address that would break out of its command is rejected', async (t) => {
	const { sink, deliver } = await setupSmtp(t)
	t.like(await deliver('ada@example.org>\r\nRCPT TO:<eve@example.org'), rejected)
	t.is(sink.mails.length, 0)
})

test('an answer to the dot may take longer than one to the envelope', async (t) => {
	const { deliver } = await setupSmtp(t, {
		sink: { delayMs: 2500 },
		timeouts: { envelopeMs: 2000, answerMs: 10_000 },
	})
	t.like(await deliver(), { kind: 'SENT' })
})
