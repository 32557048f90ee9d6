import test from 'ava'
import { client, until } from '../bench/load.ts'
import { prepareStack } from '../bench/stack.ts'
import { answering, startReceiver } from './helpers/webhook-receiver.ts'

// Real processes, as in a deployment.

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
}

test('an event goes from the request to the endpoint, through failures, and so does what follows', async (t) => {
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'local',
		ALLOW_PRIVATE_WEBHOOKS: 'true',
	})
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const receiver = await startReceiver(t)
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	const created = await http.post('/webhook-endpoints', { url: receiver.url, events: ['*'] })
	t.is(created.status, 201, created.body)
	const { id } = JSON.parse(created.body) as { id: string }

	const mail = { to: 'ann@example.org', from: 'hello@example.com', subject: 'Hi', body: 'Hi' }
	t.is((await http.post('/v1/send', mail)).status, 200)
	const types = () => receiver.heard.map(({ type }) => type)
	t.true(await until(async () => types().includes('email.sent'), 15_000), types().join())

	receiver.answer = (response, heard) => {
		receiver.answer = answering(200)
		answering(500)(response, heard)
	}
	const track = (event: string) => http.post('/events/track', { email: 'ann@example.org', event })
	await track('failing')
	const failures = () => receiver.heard.filter(({ type }) => type === 'event.failing')
	t.true(await until(async () => failures().length === 1, 15_000))
	await track('next')
	t.true(await until(async () => types().includes('event.next'), 15_000))
	t.true(await until(async () => failures().length === 2, 20_000))
	const [first, second] = failures()
	t.is(second!.headers['webhook-id'], first!.headers['webhook-id'])
	t.true(second!.at - first!.at >= 5000, `${second!.at - first!.at} ms`)

	const before = receiver.heard.length
	const period = { from: '2026-01-01T00:00:00Z', to: '2036-01-01T00:00:00Z', only: 'all' }
	const replay = await http.post(`/webhook-endpoints/${id}/replay`, period)
	t.is(replay.status, 202, replay.body)
	t.true(await until(async () => receiver.heard.length === 2 * before - 1, 20_000))
})
