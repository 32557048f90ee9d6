import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { until } from '../bench/load.ts'
import { webhooks } from '../client/index.ts'
import { lines, setupCommands } from './helpers/commands.ts'

interface Posted {
	headers: Record<string, string | string[] | undefined>
	body: string
}

/** The program that gets the events. Its answer waits for `answering`. */
async function program(t: ExecutionContext, answering = Promise.resolve()) {
	const requests: Posted[] = []
	const server = createServer(async (request, response) => {
		requests.push({ headers: request.headers, body: await text(request) })
		await answering
		response.statusCode = 204
		response.end()
	})
	await once(server.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => server.close())
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
	return { url, requests }
}

test('events are forwarded to a program on this machine, once and signed', async (t) => {
	const { start, tempost } = await setupCommands(t)
	const { webhookEndpoints } = tempost
	const { url, requests } = await program(t)
	const events = 'event.*,contact.created,segment.entered'
	const { child, printed, ended } = start('listen', '--forward-to', url, '--events', events)
	t.true(await until(async () => /whsec_/.test(printed.err), 60_000))
	const secret = /whsec_\S+/.exec(printed.err)![0]
	await tempost.track({ email: 'ann@example.org', event: 'ordered', data: { price: 5 } })
	await tempost.contacts.upsert({ email: 'bob@example.org', subscribed: true })
	t.true(await until(async () => requests.length > 2, 60_000))
	await tempost.track({ email: 'ann@example.org', event: 'paid' })
	t.true(await until(async () => requests.length > 3, 60_000))
	const heard = await Promise.all(
		requests.map(({ headers, body }) => webhooks.verify(headers, body, secret)),
	)
	t.deepEqual(
		heard.map(({ type }) => type),
		['contact.created', 'event.ordered', 'contact.created', 'event.paid'],
	)
	t.like(heard[1]!.data, { name: 'ordered', email: 'ann@example.org', data: { price: 5 } })
	t.like(heard[2]!.data, { email: 'bob@example.org', subscribed: true })
	t.true(await until(async () => lines(printed.out).length === 4, 60_000))
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

test('Ctrl-C ends a command that has not begun to listen', async (t) => {
	const { start, env, tempost } = await setupCommands(t)
	const asked: string[] = []
	const server = createServer(({ url }) => void asked.push(url!))
	await once(server.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => server.close())
	const { port } = server.address() as AddressInfo
	Object.assign(env, { TEMPOST_URL: `http://127.0.0.1:${port}` })
	const { child, printed } = start('listen', '--forward-to', 'http://localhost:1')
	t.true(await until(async () => asked.length > 0, 60_000))
	child.kill('SIGINT')
	t.true(await until(async () => child.exitCode === 0, 20_000), printed.err)
	t.deepEqual(await tempost.webhookEndpoints.list(), [])
})

/** Commands of people at machines with these names. */
async function setupListeners(t: ExecutionContext) {
	const { env, start, tempost } = await setupCommands(t)
	async function listenAt(machine: string, forwardTo: string) {
		const named = `import os from 'node:os'
			import { syncBuiltinESMExports } from 'node:module'
			os.hostname = () => ${JSON.stringify(machine)}
			syncBuiltinESMExports()`
		const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(named)}`
		Object.assign(env, { NODE_OPTIONS })
		const listener = start('listen', '--forward-to', forwardTo, '--events', 'event.*')
		t.true(await until(async () => /Forwarding/.test(listener.printed.err), 60_000))
		return listener
	}
	const track = (event: string) => tempost.track({ email: 'ann@example.org', event })
	return { listenAt, track, webhookEndpoints: tempost.webhookEndpoints }
}

test('two people who listen for the same local address both get every event', async (t) => {
	const { listenAt, track, webhookEndpoints } = await setupListeners(t)
	const { url } = await program(t)
	const listeners = [await listenAt('anns-laptop', url), await listenAt('bobs-laptop', url)]
	await track('ordered')
	for (const { child, printed, ended } of listeners) {
		t.true(await until(async () => printed.out.includes('event.ordered'), 60_000), printed.err)
		child.kill('SIGINT')
		t.is(await ended, 0, printed.err)
	}
	t.deepEqual(await webhookEndpoints.list(), [])
})

test('a command removes the endpoint of one that was killed on the same machine, and no other', async (t) => {
	const { listenAt, webhookEndpoints } = await setupListeners(t)
	const { url } = await program(t)
	for (const machine of ['anns-laptop', 'bobs-laptop']) {
		const { child, ended } = await listenAt(machine, url)
		child.kill('SIGKILL')
		await ended
	}
	const left = await webhookEndpoints.list()
	const bobs = left.find(({ description }) => description!.includes('bobs-laptop'))!
	await listenAt('anns-laptop', url)
	const endpoints = await webhookEndpoints.list()
	t.is(endpoints.length, 2)
	t.true(endpoints.some(({ id }) => id === bobs.id))
	t.false(endpoints.some(({ id }) => id !== bobs.id && left.some((old) => old.id === id)))
})

test('a command whose endpoint is already deleted ends well by Ctrl-C', async (t) => {
	const { listenAt, track, webhookEndpoints } = await setupListeners(t)
	const never = new Promise<void>(() => {})
	const { url, requests } = await program(t, never)
	const { child, printed, ended } = await listenAt('anns-laptop', url)
	await track('ordered')
	t.true(await until(async () => requests.length === 1, 60_000))
	const [endpoint] = await webhookEndpoints.list()
	await webhookEndpoints.delete(endpoint!.id)
	child.kill('SIGINT')
	t.is(await ended, 0, printed.err)
})

test('a command whose reader has ended deletes its endpoint', async (t) => {
	const { listenAt, track, webhookEndpoints } = await setupListeners(t)
	const { url } = await program(t)
	const { child, printed, ended } = await listenAt('anns-laptop', url)
	child.stdout.destroy()
	await track('ordered')
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

test('a secret that no program could verify with is refused before anything is forwarded', async (t) => {
	const { run, tempost } = await setupCommands(t)
	for (const secret of ['', 'whsec_', 'whsec_foo!', 'whsec_a-b_']) {
		const listening = ['listen', '--forward-to', 'http://127.0.0.1:9/hook', '--secret', secret]
		const { code, err } = await run(listening)
		t.is(code, 2, secret)
		t.regex(err, /whsec_, followed by base64/)
	}
	t.deepEqual(await tempost.webhookEndpoints.list(), [])
})

test('an address that is not of the web is refused before anything is forwarded', async (t) => {
	const { run, tempost } = await setupCommands(t)
	for (const address of ['localhost:4000', 'localhost:4000/hook', 'ftp://localhost/hook', 'hook']) {
		const { code, err } = await run(['listen', '--forward-to', address])
		t.is(code, 2, address)
		t.regex(err, /http:\/\/localhost:4000\/hook/)
	}
	t.deepEqual(await tempost.webhookEndpoints.list(), [])
})
