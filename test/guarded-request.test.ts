import test, { type ExecutionContext } from 'ava'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net'
import { guardedRequest } from '../outside/requests/guarded-request.ts'
import { dnsServer } from './helpers/dns-server.ts'
import { longestStall } from './helpers/stall.ts'

const ask = (url: string, dnsServers: string[] = []) =>
	guardedRequest(
		{ url, method: 'POST', headers: {}, body: '{}' },
		{ dnsServers, allowPrivate: false },
	)

async function listener(t: ExecutionContext) {
	let connections = 0
	const http = createServer((_, response) => response.end('seen'))
	http.on('connection', () => connections++)
	await once(http.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => http.close())
	return { port: (http.address() as AddressInfo).port, connections: () => connections }
}

for (const host of [
	'127.0.0.1',
	'2130706433',
	'0x7f.1',
	'0177.0.0.1',
	'127.1',
	'[::1]',
	'[::ffff:7f00:1]',
	'[64:ff9b::7f00:1]',
	'１２７.0.0.1',
	'localhost',
	'a.localhost',
	'LOCALHOST.',
])
	test(`nothing is asked of ${host}`, async (t) => {
		const { port, connections } = await listener(t)
		const answer = await ask(`http://${host}:${port}/`)
		t.deepEqual(answer, { kind: 'refused', error: 'The host is in a private network' })
		t.is(connections(), 0)
	})

for (const url of [
	'ftp://example.com/',
	'file:///etc/passwd',
	'not an address',
	'http://',
	'javascript:alert(1)',
])
	test(`${url} is refused`, async (t) => {
		t.is((await ask(url)).kind, 'refused')
	})

for (const [name, records] of Object.entries({
	'inside.test': { A: ['10.0.0.7'] },
	'both.test': { A: ['1.1.1.1', '127.0.0.1'] },
	'six.test': { AAAA: ['fd00::1'] },
	'metadata.test': { A: ['169.254.169.254'] },
}))
	test(`a name that leads to ${JSON.stringify(records)} is refused`, async (t) => {
		const { address } = await dnsServer(t, { [name]: records })
		const answer = await ask(`http://${name}/`, [address])
		t.deepEqual(answer, { kind: 'refused', error: 'The host is in a private network' })
	})

test('an unknown name, or one without an answer, may be tried again later', async (t) => {
	const { address } = await dnsServer(t, { 'silent.test': 'silence' })
	t.like(await ask('http://nowhere.test/', [address]), { kind: 'failed' })
	t.like(await ask('http://silent.test/', [address]), { kind: 'failed' })
})

test('a name is looked up once, and the connection uses that answer', async (t) => {
	const { port, connections } = await listener(t)
	const { address, queries } = await dnsServer(t, { 'shop.test': { A: ['127.0.0.1'] } })
	const answer = await guardedRequest(
		{ url: `http://shop.test:${port}/`, method: 'GET', headers: {}, body: null },
		{ dnsServers: [address], allowPrivate: true },
	)
	t.like(answer, { kind: 'answered', status: 200, text: 'seen' })
	t.deepEqual(queries.toSorted(), ['A shop.test', 'AAAA shop.test'])
	t.is(connections(), 1)
})

test('a redirect leads nowhere else, however its address is written, and its server is checked again', async (t) => {
	const inside = await listener(t)
	const { address } = await dnsServer(t, { 'rebound.test': { A: ['127.0.0.1'] } })
	for (const [to, error] of [
		...[
			'127.0.0.1',
			'2130706433',
			'0x7f000001',
			'017700000001',
			'127.1',
			'[::]',
			'[::ffff:127.0.0.1]',
			'[64:ff9b::7f00:1]',
			'[2002:7f00:1::]',
			'0',
			'127.0.0.1.',
			'%31%32%37.0.0.1',
			'public.example@127.0.0.1',
			'rebound.test',
		].map((host): [string, RegExp] => [
			`http://${host}:${inside.port}/`,
			/^It redirects to another server/,
		]),
		[`//127.0.0.1:${inside.port}/`, /^It redirects to another server/],
		['\\\\127.0.0.1', /^It redirects to another server/],
		['/again', /^The host is in a private network$/],
		['file:///etc/passwd', /^It redirects to another server/],
		['gopher://127.0.0.1:25/', /^It redirects to another server/],
	] as [string, RegExp][]) {
		const location = to
		const http = createServer((_, response) => response.writeHead(307, { location }).end())
		await once(http.listen(0, '127.0.0.1'), 'listening')
		const url = `http://rebound.test:${(http.address() as AddressInfo).port}/`
		// The first server represents one on the public internet.
		let isFirst = true
		const options = {
			dnsServers: [address],
			get allowPrivate() {
				const isAllowed = isFirst
				isFirst = false
				return isAllowed
			},
		}
		const answer = await guardedRequest({ url, method: 'POST', headers: {}, body: '{}' }, options)
		http.close()
		t.false(isFirst)
		t.is(answer.kind, 'refused')
		t.regex(answer.kind === 'refused' ? answer.error : '', error, location)
	}
	t.is(inside.connections(), 0)
})

test('a name whose address changes is reached only at the checked address', async (t) => {
	const { port, connections } = await listener(t)
	const { address, zone } = await dnsServer(t, { 'rebinding.test': { A: ['127.0.0.1'] } })
	const request = { url: `http://rebinding.test:${port}/`, method: 'GET', headers: {}, body: null }
	const options = {
		dnsServers: [address],
		// Called once the addresses are known: from here on the name resolves to another one.
		get allowPrivate() {
			zone['rebinding.test'] = { A: ['127.0.0.2'] }
			return true
		},
	}
	t.like(await guardedRequest(request, options), { kind: 'answered', text: 'seen' })
	t.is(connections(), 1)
	t.deepEqual(await ask(request.url, [address]), {
		kind: 'refused',
		error: 'The host is in a private network',
	})
	t.is(connections(), 1)
})

test('a header that cannot be sent is refused, and not tried for ever', async (t) => {
	const { port, connections } = await listener(t)
	const answer = await guardedRequest(
		{ url: `http://127.0.0.1:${port}/`, method: 'POST', headers: { 'x-name': '☂' }, body: '{}' },
		{ dnsServers: [], allowPrivate: true },
	)
	t.is(answer.kind, 'refused')
	t.is(connections(), 0)
})

test('a server that would speak another protocol is refused, and its connection closed', async (t) => {
	const server = await rawServer(
		t,
		'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
	)
	t.deepEqual(await server.ask(), {
		kind: 'refused',
		error: 'It answered by switching to another protocol',
	})
	await server.closed
})

for (const [what, said] of [
	['says nothing', ''],
	['never ends its answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonce'],
	['promises an answer for ever', 'HTTP/1.1 102 Processing\r\n\r\n'],
] as const)
	test(`a server that ${what} gets ten seconds`, async (t) => {
		const server = await rawServer(t, said)
		t.deepEqual(await server.ask(), { kind: 'failed', error: 'No answer within ten seconds' })
		await server.closed
	})

test.serial('a server that sends interim answers without end is refused at once', async (t) => {
	const server = await rawServer(t, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(200_000))
	const stallMs = await longestStall(async () => {
		t.deepEqual(await server.ask(), {
			kind: 'refused',
			error: 'It sent more than 20 interim answers',
		})
	})
	t.true(stallMs <= 50, `${stallMs} ms`)
	await server.closed
})

test.serial(
	'answers in parts of a byte, ten at once, block nobody, and arrive whole',
	async (t) => {
		const part = '1\r\nx\r\n'
		const server = await rawServer(
			t,
			`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${part.repeat(60_000)}0\r\n\r\n`,
		)
		const text = 'x'.repeat(60_000)
		const stallMs = await longestStall(async () => {
			const answers = await Promise.all(Array.from({ length: 10 }, server.ask))
			for (const answer of answers)
				t.deepEqual(answer, { kind: 'answered', status: 200, text, retryAfter: null })
		})
		t.true(stallMs <= 50, `${stallMs} ms`)
	},
)

/** Sends its lines to every client, regardless of the request, and keeps the connection open. */
async function rawServer(t: ExecutionContext, said: string) {
	const closed = Promise.withResolvers<void>()
	const server = createRawServer((socket: Socket) => {
		socket.on('error', () => {})
		socket.on('close', () => closed.resolve())
		socket.once('data', () => socket.write(said))
	})
	await once(server.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => server.close())
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
	const options = { dnsServers: [], allowPrivate: true }
	return {
		closed: closed.promise,
		ask: () => guardedRequest({ url, method: 'POST', headers: {}, body: '{}' }, options),
	}
}
