import { randomBytes, randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { mostGrowth } from '../api/send/send-effort.ts'
import { messageSize } from '../mail/message-size.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { setupSend } from './helpers/send.ts'
import { setupSmtp } from './helpers/smtp.ts'

const limit = 40 * 2 ** 20
const encoded = (bytes: number) => {
	const length = Math.ceil(bytes / 3) * 4
	return length + Math.ceil(length / 76) * 2
}

// Links are tracked, the text part repeats the words, and some letters take three characters each.
const body = '<p>Grüße, <a href="https://example.com/?a=b">look</a> … é=é</p>\n'.repeat(3000)
const message = (fileBytes: number, padding: number) => ({
	body,
	headers: { 'X-Padding': 'x'.repeat(padding) },
	attachments: [
		{
			filename: 'a.bin',
			contentType: 'application/octet-stream',
			content: randomBytes(fileBytes).toString('base64'),
		},
	],
})

async function setup(t: ExecutionContext) {
	const all = await setupSend(t, { settings: { attachmentsMaxMb: 40 } })
	await all.pool.query('update projects set owner_verified = true')
	const { sink, provider } = await setupSmtp(t)
	const worker = campaignWorker(all.pool, provider)
	async function sizeSent(fileBytes: number, padding: number) {
		const answer = await all.send(message(fileBytes, padding))
		t.is(answer.statusCode, 200, answer.body.slice(0, 500))
		await worker.deliver()
		return sink.mails.at(-1)!.raw.length
	}
	return { ...all, sizeSent }
}

test.serial(
	'a message of 40 MB over SMTP is accepted, and one of a byte more is refused',
	async (t) => {
		t.timeout(240_000)
		const { send, refused, sizeSent } = await setup(t)
		const rest = (await sizeSent(3, 1)) - encoded(3)
		t.is(await sizeSent(50_000, 7), rest + encoded(50_000) + 6)
		// The largest file that leaves room for some padding, and padding to the last byte.
		let fileBytes = 28 * 2 ** 20
		while (rest + encoded(fileBytes + 30) <= limit - 20) fileBytes += 30
		const padding = 1 + limit - rest - encoded(fileBytes)
		t.is((await send(message(fileBytes, padding))).statusCode, 200)
		t.deepEqual(await refused(message(fileBytes, padding + 1)), ['attachments: too_big'])
	},
)

const quoted = '<blockquote>'.repeat(5)
const listed = `${quoted}${'<ul>'.repeat(5)}<ol start="-17976931348623157${'0'.repeat(292)}"><li>x`
const pieces: [begin: string, piece: string][] = [
	['', '=é'],
	['', '<hr>'],
	['', '<p>a'],
	['', '<a href=http://a>'],
	['', '<a href=http://a///é>'],
	[quoted, '<br>='],
	[listed, '<p>='],
	[listed, '<li>='],
	[listed, '<p><a href=http://a>'],
	[`${listed}<pre>`, '=\n\n'],
	[`${listed}<pre>`, '=\n'],
]

test('no piece of a body grows more than its size is first estimated with', (t) => {
	const sizeOf = (body: string) =>
		messageSize({
			mail: {
				emailId: randomUUID(),
				projectId: randomUUID(),
				contactId: null,
				from: { email: 'a@example.com', name: null },
				to: { email: 'b@example.com', name: null },
				replyTo: null,
				subject: 'Hello',
				body,
				headers: null,
				language: null,
				type: 'TRANSACTIONAL',
				createdAt: new Date(),
			},
			files: [],
			publicUrl: `https://${'mail.'.repeat(20)}example.com`,
			isTracked: true,
		})
	for (const [begin, piece] of pieces) {
		const added = sizeOf(begin + piece.repeat(2000)) - sizeOf(begin + piece.repeat(1000))
		const growth = added / Buffer.byteLength(piece.repeat(1000))
		t.true(growth < mostGrowth, `${JSON.stringify(piece)} grows ${growth} times`)
	}
})
