import test, { type ExecutionContext } from 'ava'
import type { FastifyRequest } from 'fastify'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Capacity } from '../api/requests/overload.ts'
import { createProject, setup } from './helpers/app.ts'

const mb = 2 ** 20
const path = '/v1/send'
type Headers = Record<string, string>
interface Answer {
	status: number
	headers: IncomingHttpHeaders
	body: string
}

/** An API on its own port, and callers of several projects that send bodies in parts. */
async function listen(t: ExecutionContext, capacity: Capacity = {}) {
	const { app, orm, withSecretKey } = await setup(t, { services: { capacity } })
	const awaited = new Map<string, { bytes: number; done: () => void }>()
	/** Counts with the body's reader, because an earlier listener would take the data away. */
	function watch({ headers, raw }: FastifyRequest) {
		const reading = awaited.get(String(headers['x-name']))
		raw.on('newListener', function onReader(event: string | symbol) {
			if (event !== 'data' || !reading) return
			raw.off('newListener', onReader)
			raw.on('data', ({ length }: Buffer) => (reading.bytes -= length) <= 0 && reading.done())
		})
	}
	app.addHook('preParsing', (request, _reply, _payload, done) => {
		watch(request)
		done()
	})
	await app.listen({ port: 0, host: '127.0.0.1' })
	const { port } = app.server.address() as AddressInfo

	/** Sends the head and the first bytes, and resolves when the API has read them or refused the request. */
	async function begin(to: string, headers: Headers, first: number) {
		const name = randomBytes(8).toString('hex')
		const hasRead = new Promise<void>((done) => awaited.set(name, { bytes: first, done }))
		const json = { 'content-type': 'application/json', 'x-name': name }
		const sent = httpRequest({ port, path: to, method: 'POST', headers: { ...json, ...headers } })
		t.teardown(() => sent.destroy())
		const answered = once(sent, 'response').then(async ([response]): Promise<Answer> => ({
			status: response.statusCode,
			headers: response.headers,
			body: await text(response),
		}))
		sent.on('error', () => {})
		answered.catch(() => {})
		sent.write(' '.repeat(first))
		await Promise.race([hasRead, answered])
		return { answered, end: (rest = 0) => sent.end(' '.repeat(rest)) }
	}

	const length = (bytes: number) => ({ 'content-length': String(bytes) })
	const project = async () => (await createProject(orm)).withSecretKey
	return { begin, project, withSecretKey, length }
}

test('stalled large bodies of one project leave room to others', async (t) => {
	const { begin, project, withSecretKey, length } = await listen(t)
	const form = { ...withSecretKey, 'content-type': 'multipart/form-data; boundary=b' }
	for (let n = 0; n < 3; n++) await begin(path, withSecretKey, 3)
	for (let n = 0; n < 2; n++) await begin('/uploads/image', form, 3)
	for (let n = 0; n < 3; n++) await begin(path, { ...withSecretKey, ...length(50 * mb) }, 3)
	const large = await begin(path, { ...(await project()), ...length(5 * mb) }, 5 * mb)
	large.end()
	t.is((await large.answered).status, 422)
})

test('many small chunked bodies are accepted at once', async (t) => {
	const { begin, withSecretKey } = await listen(t)
	const all = await Promise.all(Array.from({ length: 20 }, () => begin(path, withSecretKey, 80)))
	for (const { end } of all) end()
	for (const { answered } of all) t.is((await answered).status, 422)
})

test('when room is wanted, the large body whose last bytes came first is given up', async (t) => {
	const { begin, project, length } = await listen(t, { bodyBytes: 4 * mb })
	const form = {
		...(await project()),
		...length(3 * mb),
		'content-type': 'multipart/form-data; boundary=b',
	}
	const stalled = [
		await begin('/uploads/image', form, 1.5 * mb),
		await begin(path, await project(), 1.5 * mb),
	]
	const active = await begin(path, { ...(await project()), ...length(4 * mb) }, 2 * mb)
	isRefused(t, await stalled[0]!.answered, 503)
	active.end(2 * mb)
	t.is((await active.answered).status, 422)
	isRefused(t, await stalled[1]!.answered, 503)
	// All room has been given back.
	const whole = await begin(path, { ...(await project()), ...length(4 * mb) }, 4 * mb)
	t.is((await whole.answered).status, 422)
})

test('the large bodies of a project have a third of the room', async (t) => {
	const { begin, project, withSecretKey, length } = await listen(t, { bodyBytes: 9 * mb })
	const announced = await begin(path, { ...withSecretKey, ...length(1.5 * mb) }, 3)
	const chunked = await begin(path, withSecretKey, 1.2 * mb)
	const beyond = await begin(path, { ...withSecretKey, ...length(1.5 * mb) }, 3)
	isRefused(t, await beyond.answered, 429)
	const growing = await begin(path, withSecretKey, 0.5 * mb)
	isRefused(t, await growing.answered, 429)
	const other = await begin(path, { ...(await project()), ...length(3 * mb) }, 3 * mb)
	t.is((await other.answered).status, 422)
	announced.end(1.5 * mb - 3)
	chunked.end()
	for (const { answered } of [announced, chunked]) t.is((await answered).status, 422)
})

test('a large body that stops coming is given up, with an answer that says so', async (t) => {
	const { begin, withSecretKey } = await listen(t, { arrivalMs: 200 })
	const { answered } = await begin(path, withSecretKey, 1.5 * mb)
	const { status, headers, body } = await answered
	t.is(status, 408)
	t.is(headers['connection'], 'close')
	t.regex(body, /did not come in time/)
})

function isRefused(t: ExecutionContext, { status, headers, body }: Answer, expected: number) {
	t.is(status, expected, body)
	t.is(headers['retry-after'], '1')
}
