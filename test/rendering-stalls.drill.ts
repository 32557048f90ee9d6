import test, { type ExecutionContext } from 'ava'
import { setupSend } from './helpers/send.ts'
import { longestStall } from './helpers/stall.ts'

// Serial, because anything beside a measurement would be part of it. Each customer's text may take half a
// second of a processor, but none of it on the event loop.

const mostMs = 50

const loop = '{% for i in (1..9999) %}'
const slow = `${loop.repeat(2)}{% endfor %}{% endfor %}x`
const manyTags = '{{ name }}{% if a %}b{% endif %}'.repeat(12_000)
const manyLinks = '<a href="https://example.org/a?b=c">d</a>\n'.repeat(200_000)

async function setupApi(t: ExecutionContext) {
	const { app, withSecretKey, createTemplate } = await setupSend(t)
	const headers = { ...withSecretKey, 'content-type': 'application/json' }
	/** What is sent is written by the client, before anything is measured. */
	const posting = (url: string, body: object, status: number) => {
		const payload = Buffer.from(JSON.stringify(body))
		return async () => {
			const answer = await app.inject({ method: 'POST', url, headers, payload })
			t.is(answer.statusCode, status, answer.body.slice(0, 1000))
			return answer.json()
		}
	}
	const post = (...given: Parameters<typeof posting>) => posting(...given)()
	const mail = {
		from: 'a@example.com',
		to: 'b@example.org',
		subject: 's',
		body: '<p>{{ email }}</p>',
	}
	// Starts the threads and warms everything up.
	await post('/v1/send', mail, 200)
	await post('/v1/send', { ...mail, body: slow }, 200)
	return { post, posting, mail, createTemplate }
}

async function stallsLittle(t: ExecutionContext, run: () => Promise<unknown>) {
	const ms = await longestStall(run)
	t.true(ms < mostMs, `${ms.toFixed(0)} ms`)
}

test.serial('a slow template sent to many recipients does not delay the API', async (t) => {
	const { posting, mail } = await setupApi(t)
	const to = Array.from({ length: 5 }, (_, index) => `${index}@example.org`)
	await stallsLittle(t, posting('/v1/send', { ...mail, to, body: slow }, 200))
})

test.serial('eight megabytes of links sent as one mail do not delay the API', async (t) => {
	const { post, posting, mail } = await setupApi(t)
	// The first large request starts a thread.
	await post('/v1/send', { ...mail, body: 'x'.repeat(2 ** 21) }, 200)
	await stallsLittle(t, posting('/v1/send', { ...mail, body: manyLinks }, 200))
})

test.serial('a template of 36,000 tags is checked without delaying the API', async (t) => {
	const { post, posting, mail } = await setupApi(t)
	const template = { ...mail, name: 'Many', body: manyTags }
	// The first template compiles what checks it.
	await post('/templates', { ...mail, name: 'First' }, 201)
	await stallsLittle(t, posting('/templates', template, 201))
})

test.serial('previews of a slow template do not delay the API', async (t) => {
	const { post, createTemplate } = await setupApi(t)
	const { id } = await createTemplate({ body: slow })
	await post(`/templates/${id}/preview`, {}, 200)
	await stallsLittle(t, () =>
		Promise.all(Array.from({ length: 5 }, () => post(`/templates/${id}/preview`, {}, 200))),
	)
})

test.serial('the texts of a webhook step are checked without delaying the API', async (t) => {
	const { post, posting } = await setupApi(t)
	const { id } = await post('/workflows', { name: 'w', eventName: 'e' }, 201)
	const body = Object.fromEntries(
		Array.from({ length: 800 }, (_, index) => [`k${index}`, '{{ a }}{{ b }}'.repeat(4)]),
	)
	const config = { url: 'https://example.org' }
	const step = { type: 'WEBHOOK', name: 's', config }
	// The first step of a type compiles what checks it.
	await post(`/workflows/${id}/steps`, step, 201)
	const large = { ...step, config: { ...config, body } }
	await stallsLittle(t, posting(`/workflows/${id}/steps`, large, 201))
})
