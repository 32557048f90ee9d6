import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { until } from '../bench/load.ts'
import { webhooks } from '../client/index.ts'
import { lines, setupCommands } from './helpers/commands.ts'

test('events are forwarded to a program on this machine, once and signed', async (t) => {
	const { start, tempost } = await setupCommands(t)
	const { webhookEndpoints } = tempost
	const requests: { headers: Record<string, string | string[] | undefined>; body: string }[] = []
	const server = createServer(async (request, response) => {
		requests.push({ headers: request.headers, body: await text(request) })
		response.statusCode = 204
		response.end()
	})
	await once(server.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => server.close())
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
	const events = 'event.*,contact.created,segment.entered'
	const { child, printed, ended } = start('listen', '--forward-to', url, '--events', events)
	t.true(await until(async () => /whsec_/.test(printed.err), 20_000))
	const secret = /whsec_\S+/.exec(printed.err)![0]
	await tempost.track({ email: 'ann@example.org', event: 'ordered', data: { price: 5 } })
	await tempost.contacts.upsert({ email: 'bob@example.org', subscribed: true })
	t.true(await until(async () => requests.length > 2, 20_000))
	await tempost.track({ email: 'ann@example.org', event: 'paid' })
	t.true(await until(async () => requests.length > 3, 20_000))
	const heard = await Promise.all(
		requests.map(({ headers, body }) => webhooks.verify(headers, body, secret)),
	)
	t.deepEqual(
		heard.map(({ type }) => type),
		['contact.created', 'event.ordered', 'contact.created', 'event.paid'],
	)
	t.like(heard[1]!.data, { name: 'ordered', email: 'ann@example.org', data: { price: 5 } })
	t.like(heard[2]!.data, { email: 'bob@example.org', subscribed: true })
	t.true(await until(async () => lines(printed.out).length === 4, 20_000))
	t.like(lines(printed.out)[1]!, { type: 'event.ordered', status: 204 })
	const [endpoint] = await webhookEndpoints.list()
	const { data } = await webhookEndpoints.listDeliveries(endpoint!.id)
	t.deepEqual(
		requests.map(({ headers }) => headers['webhook-id']),
		data.map(({ webhookId }) => webhookId).toReversed(),
	)
	child.kill('SIGINT')
	t.is(await ended, 0, printed.err)
	t.deepEqual(await webhookEndpoints.list(), [])
})

test('a type that no webhook has is refused before anything is forwarded', async (t) => {
	const { run, tempost } = await setupCommands(t)
	const url = 'http://127.0.0.1:9/hook'
	const { code, err } = await run(['listen', '--forward-to', url, '--events', 'email.nothing'])
	t.is(code, 1)
	t.regex(err, /events\.0 is not a type of webhook/)
	t.deepEqual(await tempost.webhookEndpoints.list(), [])
})
