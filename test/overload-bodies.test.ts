import multipart from '@fastify/multipart'
import test, { type ExecutionContext } from 'ava'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Capacity } from '../api/requests/overload.ts'
import { readUpload, uploadLimits } from '../api/uploads/upload.ts'
import { setup } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'

const login = JSON.stringify({ email: 'anna@example.com', password: 'none of ours' })
const form =
	'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\r\n--b--\r\n'
const json = { 'content-type': 'application/json' }

/** An API with this capacity on its own port, and callers that send a body piece by piece. */
async function listen(t: ExecutionContext, capacity: Capacity) {
	const { app, withSecretKey } = await setup(t, { services: { capacity } })
	const gate = Promise.withResolvers<void>()
	const entered = Promise.withResolvers<void>()
	t.teardown(gate.resolve)
	async function wait() {
		entered.resolve()
		await gate.promise
		return 'done'
	}
	const heardOf = new EventEmitter()
	app.addHook('preParsing', (_request, _reply, _payload, done) => {
		heardOf.emit('request')
		done()
	})
	app.addHook('onSend', async () => void heardOf.emit('request'))
	app.get('/wait', { config: { auth: 'none' } }, wait)
	app.post(
		'/large-login',
		{ bodyLimit: 2 ** 20, config: { auth: 'none' } },
		async (_request, reply) => reply.code(401).send(),
	)
	await app.register(async (forms) => {
		await forms.register(multipart, { limits: uploadLimits(2 ** 21) })
		forms.post('/form', { bodyLimit: 2 ** 21, config: { auth: 'secret key' } }, async (request) => {
			await readUpload(request, 'file', 2 ** 21)
			return wait()
		})
		forms.post('/late-form', { config: { auth: 'secret key' } }, async (request) => {
			await sleep(200)
			await readUpload(request, 'file', 2 ** 21)
		})
	})
	await app.listen({ port: 0, host: '127.0.0.1' })
	const { port } = app.server.address() as AddressInfo

	/** Sends the first part of a body, and resolves when the API waits for the rest or refuses it. */
	async function begin(path: string, headers: Record<string, string>, whole: string) {
		const socket = connect(port, '127.0.0.1').on('error', () => {})
		t.teardown(() => socket.destroy())
		const heard = once(heardOf, 'request')
		const length = String(whole.length)
		const all = { host: 'test', connection: 'close', 'content-length': length, ...headers }
		const lines = Object.entries(all).map((pair) => pair.join(': '))
		socket.write([`POST ${path} HTTP/1.1`, ...lines, '', whole.slice(0, 9)].join('\r\n'))
		await heard
		const answer = async () => parsed(await text(socket))
		return { socket, answer, finish: () => socket.write(whole.slice(9)) }
	}

	const beginLogin = (length = 0) =>
		begin(length > 0 ? '/large-login' : '/auth/login', json, login.padEnd(length))
	const formType = { ...withSecretKey, 'content-type': 'multipart/form-data; boundary=b' }
	const beginForm = (length = 0) => begin('/form', formType, form.padEnd(length))
	const beginLateForm = () => begin('/late-form', formType, form)
	const url = `http://127.0.0.1:${port}`
	const get = async (path: string) => (await fetch(url + path)).status
	const post = async () =>
		(await fetch(`${url}/auth/login`, { method: 'POST', headers: json, body: login })).status
	return { gate, entered, beginLogin, beginForm, beginLateForm, get, post }
}

function parsed(answer: string) {
	const [head = '', body = ''] = answer.split('\r\n\r\n')
	const [status = '', ...lines] = head.split('\r\n')
	const headers = lines.map((line) => line.split(': ', 2))
	return {
		statusCode: Number(status.split(' ')[1]),
		headers: Object.fromEntries(headers) as Record<string, string>,
		body,
	}
}

test('slow bodies take no place from others, and are answered in the end', async (t) => {
	const { beginLogin, beginForm, get, post } = await listen(t, { requests: 4 })
	const slow = []
	for (let count = 0; count < 20; count++) slow.push(await beginLogin())
	for (let count = 0; count < 20; count++) await beginForm(count % 2 ? 0 : 1_500_000)
	t.is(await get('/health'), 200)
	t.is(await get('/config'), 200)
	t.is(await post(), 401)
	slow[0]!.finish()
	t.is((await slow[0]!.answer()).statusCode, 401)
})

test('a small body that does not come is given up, with an answer that says so', async (t) => {
	const { beginLogin, beginForm, beginLateForm, get } = await listen(t, {
		requests: 1,
		arrivalMs: 50,
	})
	for (const begin of [beginLogin, beginForm, beginLateForm]) {
		const answer = await (await begin()).answer()
		isEnvelope(t, answer, 408, 'BAD_REQUEST')
		t.is(answer.headers['connection'], 'close')
	}
	t.is(await get('/config'), 200)
})

test('with too many bodies under way, the oldest one is given up', async (t) => {
	// Limited by number and by bytes, a megabyte for each place.
	for (const [capacity, length] of [
		[{ arriving: 2 }, 0],
		[{ requests: 2 }, 2 ** 20],
	] as const) {
		const { beginLogin } = await listen(t, capacity)
		const first = await beginLogin(length)
		const second = await beginLogin(length)
		const third = await beginLogin()
		isEnvelope(t, await first.answer(), 408, 'BAD_REQUEST')
		for (const { finish, answer } of [second, third]) {
			finish()
			t.is((await answer()).statusCode, 401)
		}
	}
})

test('a body beyond the limit is refused, and a broken one frees its room', async (t) => {
	const { gate, entered, beginLogin, get } = await listen(t, { requests: 1 })
	const [late, gone] = [await beginLogin(), await beginLogin()]
	const waiting = get('/wait')
	await entered.promise
	late.finish()
	isEnvelope(t, await late.answer(), 503, 'EXTERNAL_SERVICE_ERROR')
	gone.socket.resetAndDestroy()
	gate.resolve()
	t.is(await waiting, 200)
	t.is(await get('/config'), 200)
})

test('a form that has come is under way until it is answered', async (t) => {
	const { gate, entered, beginForm, get } = await listen(t, { requests: 1 })
	const upload = await beginForm()
	t.is(await get('/config'), 200)
	upload.finish()
	await entered.promise
	t.is(await get('/config'), 503)
	gate.resolve()
	t.is((await upload.answer()).statusCode, 200)
	t.is(await get('/config'), 200)
})

test('a caller that never reads is given up and takes no room from others', async (t) => {
	for (const capacity of [
		{ requests: 1, readingMs: 100 },
		{ requests: 1, departing: 1 },
	]) {
		const { app, withSecretKey } = await setup(t, { services: { capacity } })
		app.get('/long', { config: { auth: 'none' } }, async () => 'x'.repeat(40_000_000))
		await app.listen({ port: 0, host: '127.0.0.1' })
		const { port } = app.server.address() as AddressInfo
		const [connected, asked] = [once(app.server, 'connection'), once(app.server, 'request')]
		const socket = connect(port, '127.0.0.1').on('error', () => {})
		t.teardown(() => socket.destroy())
		socket.pause().write('GET /long HTTP/1.1\r\nhost: test\r\n\r\n')
		const [unread] = (await connected) as [Socket]
		const left = once(unread, 'close')
		await asked
		const get = async (path: string) =>
			(await fetch(`http://127.0.0.1:${port}${path}`, { headers: withSecretKey })).status
		t.is(await get('/config'), 200)
		t.is(await get('/emails/none'), 404)
		await left
	}
})
