import test, { type ExecutionContext } from 'ava'
import { setupSend } from './helpers/send.ts'
import { longestStall } from './helpers/stall.ts'

// One after the other: whatever runs beside a measurement is part of it. Customers' texts may take half a second of a processor each. None of it is the event loop's.

const mostMs = 50

const loop = '{% for i in (1..9999) %}'
const slow = `${loop.repeat(2)}{% endfor %}{% endfor %}x`
const manyTags = '{{ name }}{% if a %}b{% endif %}'.repeat(12_000)
const manyLinks = '<a href="https://example.org/a?b=c">d</a>\n'.repeat(200_000)

async function setupApi(t: ExecutionContext) {
	const { app, withSecretKey, createTemplate } = await setupSend(t)
	const post = async (url: string, payload: object, status: number) => {
		const answer = await app.inject({ method: 'POST', url, headers: withSecretKey, payload })
		t.is(answer.statusCode, status, answer.body.slice(0, 1000))
		return answer.json()
	}
	const mail = {
		from: 'a@example.com',
		to: 'b@example.org',
		subject: 's',
		body: '<p>{{ email }}</p>',
	}
	// Starts the threads, and warms up everything around.
	await post('/v1/send', mail, 200)
	await post('/v1/send', { ...mail, body: slow }, 200)
	return { post, mail, createTemplate }
}

async function stallsLittle(t: ExecutionContext, run: () => Promise<unknown>) {
	const ms = await longestStall(run)
	t.true(ms < mostMs, `${ms.toFixed(0)} ms`)
}

test.serial('a slow template sent to many recipients does not hold up the API', async (t) => {
	const { post, mail } = await setupApi(t)
	const to = Array.from({ length: 5 }, (_, index) => `${index}@example.org`)
	await stallsLittle(t, () => post('/v1/send', { ...mail, to, body: slow }, 200))
})

test.serial('eight megabytes of links sent as one mail do not hold up the API', async (t) => {
	const { post, mail } = await setupApi(t)
	await stallsLittle(t, () => post('/v1/send', { ...mail, body: manyLinks }, 200))
})

test.serial('a template of 36,000 tags is checked without holding up the API', async (t) => {
	const { post, mail } = await setupApi(t)
	const template = { ...mail, name: 'Many', body: manyTags }
	await stallsLittle(t, () => post('/templates', template, 201))
})

test.serial('previews of a slow template do not hold up the API', async (t) => {
	const { post, createTemplate } = await setupApi(t)
	const { id } = await createTemplate({ body: slow })
	await stallsLittle(t, () =>
		Promise.all(Array.from({ length: 5 }, () => post(`/templates/${id}/preview`, {}, 200))),
	)
})

test.serial('the texts of a webhook step are checked without holding up the API', async (t) => {
	const { post } = await setupApi(t)
	const { id } = await post('/workflows', { name: 'w', eventName: 'e' }, 201)
	const body = Object.fromEntries(
		Array.from({ length: 800 }, (_, index) => [`k${index}`, '{{ a }}{{ b }}'.repeat(4)]),
	)
	const step = { type: 'WEBHOOK', name: 's', config: { url: 'https://example.org', body } }
	await stallsLittle(t, () => post(`/workflows/${id}/steps`, step, 201))
})
