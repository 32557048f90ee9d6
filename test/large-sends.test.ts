import { randomBytes } from 'node:crypto'
import test from 'ava'
import { isEnvelope } from './helpers/envelope.ts'
import { type FieldError, setupSend } from './helpers/send.ts'
import { longestStall } from './helpers/stall.ts'

const megabyte = 2 ** 20
const large = 'x'.repeat(1.5 * megabyte)

async function setupLarge(t: Parameters<typeof setupSend>[0]) {
	const all = await setupSend(t, { settings: { attachmentsMaxMb: 30 } })
	const post = (changes: object, headers: Record<string, string> = {}) => {
		const body = { to: 'anna@example.org', from: 'app@example.com', subject: 'Hi', ...changes }
		const payload = Buffer.from(JSON.stringify(body))
		return () =>
			all.app.inject({
				method: 'POST',
				url: '/v1/send',
				headers: { ...all.withSecretKey, ...headers, 'content-type': 'application/json' },
				payload,
			})
	}
	return { ...all, post }
}

test.serial(
	'the largest message delays no other request, and its files arrive unchanged',
	async (t) => {
		t.timeout(180_000)
		const { pool, post } = await setupLarge(t)
		const files = Array.from({ length: 10 }, () => randomBytes(2.6 * megabyte))
		const send = post({
			body: `<p>${large}</p>`,
			attachments: files.map((content, index) => ({
				filename: `${index}.bin`,
				contentType: 'application/octet-stream',
				content: content.toString('base64'),
			})),
		})
		t.is((await post({ body: large })()).statusCode, 200)
		const stall = await longestStall(async () => {
			const { statusCode, body } = await send()
			t.is(statusCode, 200, body.slice(0, 1000))
		})
		t.true(stall <= 50, `${stall} ms`)
		const { rows } = await pool.query('select content from attachments order by position')
		t.deepEqual(
			rows.map(({ content }) => files.findIndex((file) => file.equals(content))),
			[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
		)
	},
)

test.serial('many tags and long texts delay no other request', async (t) => {
	t.timeout(180_000)
	const { post } = await setupLarge(t)
	const tags = Array.from({ length: 50 }, (_, i) => ({
		name: `tag${i}`.padEnd(256, 'x'),
		value: 'y'.repeat(256),
	}))
	const to = Array.from({ length: 1000 }, (_, i) => `reader${i}@example.org`)
	const requests = [
		post({ to, tags, body: 'Hi' }),
		post({ body: undefined, text: 'a\n\n'.repeat(200_000), render: false }),
	]
	// The first use of the code is slower.
	t.is((await post({ to, body: 'Hi' })()).statusCode, 200)
	t.is((await post({ body: large })()).statusCode, 200)
	for (const send of requests) {
		const stall = await longestStall(async () => {
			const { statusCode, body } = await send()
			t.is(statusCode, 200, body.slice(0, 1000))
		})
		t.log(`${stall} ms`)
		t.true(stall <= 50, `${stall} ms`)
	}
})

test.serial('a text or number of many megabytes delays no other request', async (t) => {
	t.timeout(180_000)
	const { app, withSecretKey, post } = await setupLarge(t)
	const headers = { ...withSecretKey, 'content-type': 'application/json' }
	const file = {
		filename: '1.bin',
		contentType: 'application/octet-stream',
		content: 'A'.repeat(10 * megabyte),
	}
	const number = Buffer.from(`{"to":${'9'.repeat(55 * megabyte)}}`)
	const requests = {
		'a file': post({ body: 'Hi', attachments: [file] }),
		'a plain text': post({ body: 'Hello you '.repeat(3.8 * megabyte) }),
		'a text with escapes': post({ body: 'Hé you\n'.repeat(4.5 * megabyte) }),
		'a number': () => app.inject({ method: 'POST', url: '/v1/send', headers, payload: number }),
	}
	// The first use of the code is slower.
	t.is((await post({ body: large })()).statusCode, 200)
	for (const [what, send] of Object.entries(requests)) {
		const stall = await longestStall(async () => {
			// Larger than a message may be.
			t.is((await send()).statusCode, what === 'a file' ? 200 : 422)
		})
		t.log(`${what}: ${stall} ms`)
		t.true(stall <= 50, `${what}: ${stall} ms`)
	}
})

test.serial('a large request is refused like a small one', async (t) => {
	t.timeout(180_000)
	const { post } = await setupLarge(t)
	const refused = async (changes: object): Promise<string[]> =>
		isEnvelope(t, await post({ body: large, ...changes })(), 422, 'VALIDATION_ERROR').errors.map(
			({ field, code }: FieldError) => `${field}: ${code}`,
		)
	t.deepEqual(await refused({ from: undefined }), ['from: required'])
	t.deepEqual(await refused({ to: ['a@example.org', 5], reply: 'x' }), [
		'to.1: invalid_union',
		'reply: invalid_string',
	])
	t.deepEqual(await refused({ body: `{{ a${large}` }), ['body: template_syntax'])
	t.deepEqual(await refused({ body: 'x'.repeat(41 * megabyte) }), ['body: too_big'])
	t.is((await post({ body: large, template: null, reply: null })()).statusCode, 200)
	const from = await post({ body: large, from: 'app@elsewhere.example' })()
	isEnvelope(t, from, 403, 'INTERNAL_SERVER_ERROR')
	const template = '0192d4a5-0000-7000-8000-000000000000'
	isEnvelope(t, await post({ body: large, template })(), 404, 'TEMPLATE_NOT_FOUND')
})

test.serial('a large request honours its idempotency key', async (t) => {
	t.timeout(180_000)
	const { post } = await setupLarge(t)
	const send = post({ body: large }, { 'idempotency-key': 'large' })
	const first = await send()
	t.is(first.statusCode, 200)
	const { details } = isEnvelope(t, await send(), 409, 'IDEMPOTENCY_KEY_REUSED')
	t.deepEqual(details?.['response'], first.json())
})

test.serial('a template of 11 MB is rendered', async (t) => {
	t.timeout(180_000)
	const { pool, post } = await setupLarge(t)
	const body = `<p>Dear {{ name }}</p>${'<p>x</p>'.repeat(1.4 * megabyte)}`
	const answer = await post({ body, data: { name: 'Anna' } })()
	t.is(answer.statusCode, 200, answer.body.slice(0, 1000))
	const { rows } = await pool.query(
		'select left(body, 16) as start, length(body) as length, render_fault as fault from emails',
	)
	t.deepEqual(rows, [{ start: '<p>Dear Anna</p>', length: body.length - 6, fault: null }])
})
