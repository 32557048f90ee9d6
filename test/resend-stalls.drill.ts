import { createHash, randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { page } from './helpers/largest.ts'
import { aMessage } from './helpers/message.ts'
import { resendOnThread } from './helpers/resend-thread.ts'
import { longestStall } from './helpers/stall.ts'

// Serial, because anything beside a measurement would be part of it.

const megabyte = 2 ** 20

async function setup(t: ExecutionContext) {
	t.timeout(120_000)
	const provider = await resendOnThread(t)
	// Compiles the code that the others use.
	await provider.deliver(aMessage())
	return provider
}

const idOf = (body: unknown) => {
	const json = Buffer.from(JSON.stringify(body))
	return `${createHash('sha256').update(json).digest('hex')}/${json.length}`
}

const wire = (emailId: string, html: string, text: string) => ({
	from: 'Hello <hello@example.com>',
	headers: { 'X-Tempost-Id': emailId },
	html,
	reply_to: 'hello@example.com',
	subject: 'Good day',
	tags: [
		{ name: 'email_id', value: emailId },
		{ name: 'project_id', value: 'project-1' },
	],
	text,
	to: 'Ada <ada@example.org>',
})

test.serial(
	'a mail of 40 MB is serialised for Resend without blocking the event loop',
	async (t) => {
		const { deliver } = await setup(t)
		const html = page.repeat((25 * megabyte) / page.length)
		const text = 'Dear "Ünal" 😀\n'.repeat((5 * megabyte) / 20)
		const content = randomBytes(7 * megabyte + 1)
		const file = { content, filename: 'a.bin', contentType: 'application/octet-stream' }
		const attachments = [{ ...file, contentId: null, disposition: 'attachment' as const }]
		const message = aMessage({ html, text, attachments })
		const expected = {
			attachments: [
				{
					content: content.toString('base64'),
					filename: 'a.bin',
					content_type: 'application/octet-stream',
				},
			],
			...wire(message.emailId, html, text),
		}
		const providerMessageId = idOf(expected)
		let outcome: unknown
		const stall = await longestStall(async () => {
			outcome = await deliver(message)
		})
		t.deepEqual(outcome, { kind: 'SENT', providerMessageId })
		t.true(stall < 50, `${stall.toFixed(0)} ms`)
	},
)

test.serial('large mails in a batch are serialised without blocking the event loop', async (t) => {
	const { deliverBatch } = await setup(t)
	const html = page.repeat((10 * megabyte) / page.length)
	const messages = [aMessage({ html }), aMessage({ html })]
	const expected = messages.map(({ emailId }) => wire(emailId, html, 'Good day\n'))
	const outcome = { kind: 'SENT', providerMessageId: idOf(expected) }
	let outcomes: unknown[] = []
	const stall = await longestStall(async () => {
		outcomes = await deliverBatch!(messages, 'page-1')
	})
	t.deepEqual(outcomes, [outcome, outcome])
	t.true(stall < 50, `${stall.toFixed(0)} ms`)
})
