import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { problemOf, type ResendMail } from './resend-fake-rules.ts'

/** A fault for the next `times` requests (by default for all). */
export interface ResendFault {
	times?: number
	/** Only for requests with this idempotency key. */
	key?: string
	status?: number
	name?: string
	message?: string
	headers?: Record<string, string>
	/** HTML instead of JSON, as from a proxy in front of an API. */
	html?: string
	/** Ends the connection without an answer. */
	drop?: boolean
	/** Never answers. */
	hang?: boolean
	/** The mail is accepted before the fault. */
	take?: boolean
}

export interface AcceptedMail {
	id: string
	mail: ResendMail
	key: string | null
	emailId: string | null
	at: number
}

export interface ResendFake {
	url: string
	apiKey: string
	accepted: AcceptedMail[]
	faults: ResendFault[]
	/** Every request received: path, headers and time. */
	requests: { path: string; headers: IncomingMessage['headers']; at: number }[]
	/** Answers take this long. */
	delayMs: number
	/** The requests accepted per second. Headers mention it only after a refusal. */
	perSecond: number
	/** The number of requests refused for that. */
	refused: number
	/** Ends all connections, including waiting ones. */
	hangUp(): void
	close(): Promise<void>
}

/** The answer to a key, or null while the request is being processed. */
interface Remembered {
	body: string
	at: number
	answer: { status: number; body: unknown } | null
}

const KEY_LIFE_MS = 24 * 3_600_000

/** Resend's sending API on loopback, following its documentation. */
export async function resendFake({ port = 0, delayMs = 0 } = {}): Promise<ResendFake> {
	const keys = new Map<string, Remembered>()
	let counted = { window: 0, requests: 0 }
	const server = createServer((request, response) => {
		answer(request, response).catch(() => response.destroy())
	})
	server.listen(port, '127.0.0.1')
	await once(server, 'listening')
	const { port: actualPort } = server.address() as AddressInfo // it listens on TCP
	const fake: ResendFake = {
		url: `http://127.0.0.1:${actualPort}`,
		apiKey: 're_test',
		accepted: [],
		faults: [],
		requests: [],
		delayMs,
		perSecond: Infinity,
		refused: 0,
		hangUp: () => server.closeAllConnections(),
		async close() {
			fake.hangUp()
			await new Promise((resolve) => server.close(resolve))
		},
	}

	async function answer(request: IncomingMessage, response: ServerResponse) {
		const body = await text(request)
		const key = request.headers['idempotency-key']?.toString() ?? null
		fake.requests.push({
			path: request.url ?? '',
			headers: request.headers,
			at: performance.now(),
		})
		if (isTooMany()) {
			fake.refused += 1
			const headers = { 'retry-after': '1' }
			return fail(response, { status: 429, name: 'rate_limit_exceeded', headers })
		}
		const fault = occurring(key)
		if (fault && !fault.take) return fail(response, fault)
		const { status, body: data } = await decide(request, body, key)
		if (fault) return fail(response, fault)
		return say(response, status, data)
	}

	/** Counts by windows of a second, like most such limits. */
	function isTooMany() {
		const window = Math.floor(performance.now() / 1000)
		if (window !== counted.window) counted = { window, requests: 0 }
		counted.requests += 1
		return counted.requests > fake.perSecond
	}

	async function decide(request: IncomingMessage, body: string, key: string | null) {
		if (!request.headers.authorization)
			return problem(401, 'missing_api_key', 'Missing API key in the authorization header')
		if (request.headers.authorization !== `Bearer ${fake.apiKey}`)
			return problem(403, 'invalid_api_key', 'API key is invalid')
		const route = `${request.method} ${request.url}`
		if (route.startsWith('GET /emails/')) return look(route.slice('GET /emails/'.length))
		if (route !== 'POST /emails' && route !== 'POST /emails/batch')
			return problem(404, 'not_found', 'The requested endpoint does not exist')
		if (key !== null && (key.length < 1 || key.length > 256))
			return problem(400, 'invalid_idempotency_key', 'The key must be between 1-256 chars')
		const known = key === null ? undefined : keys.get(key)
		if (known && Date.now() - known.at < KEY_LIFE_MS) return again(known, body)
		const entry: Remembered = { body, at: Date.now(), answer: null }
		if (key !== null) keys.set(key, entry)
		if (fake.delayMs) await new Promise((resolve) => setTimeout(resolve, fake.delayMs))
		const isPermissive = request.headers['x-batch-validation'] === 'permissive'
		const result = route.endsWith('batch')
			? takeBatch(JSON.parse(body) as ResendMail[], key, isPermissive)
			: takeOne(JSON.parse(body) as ResendMail, key)
		// Only an accepted request uses its key.
		if (result.status === 200) entry.answer = result
		else if (key !== null) keys.delete(key)
		return result
	}

	function takeOne(mail: ResendMail, key: string | null) {
		const wrong = problemOf(mail)
		if (wrong) return problem(wrong.status, wrong.name, wrong.message)
		return { status: 200, body: { id: accept(mail, key) } as unknown }
	}

	function takeBatch(mails: ResendMail[], key: string | null, isPermissive: boolean) {
		if (mails.length > 100)
			return problem(422, 'validation_error', 'A batch may hold 100 emails at most')
		const problems = mails.map((mail) =>
			mail.attachments?.length
				? { status: 422, name: 'validation_error', message: 'No attachments in batches' }
				: problemOf(mail),
		)
		const first = problems.find((wrong) => wrong)
		if (first && !isPermissive) return problem(first.status, first.name, first.message)
		const data = mails.filter((_, i) => !problems[i]).map((mail) => ({ id: accept(mail, key) }))
		const errors = problems.flatMap((wrong, index) =>
			wrong ? [{ index, message: wrong.message }] : [],
		)
		return { status: 200, body: (isPermissive ? { data, errors } : { data }) as unknown }
	}

	function accept(mail: ResendMail, key: string | null) {
		const id = crypto.randomUUID()
		const emailId = mail.headers?.['X-Tempost-Id'] ?? null
		fake.accepted.push({ id, mail, key, emailId, at: Date.now() })
		return id
	}

	function look(id: string) {
		const found = fake.accepted.find((one) => one.id === id)
		if (!found) return problem(404, 'not_found', 'Email not found')
		const body = { object: 'email', id, last_event: 'sent', ...found.mail }
		return { status: 200, body: body as unknown }
	}

	function occurring(key: string | null) {
		const fault = fake.faults.find((one) => one.times !== 0 && (!one.key || one.key === key))
		if (fault?.times) fault.times -= 1
		return fault
	}

	return fake
}

function again({ body, answer }: Remembered, repeated: string) {
	if (body !== repeated)
		return problem(
			409,
			'invalid_idempotent_request',
			'Same idempotency key used with a different request payload',
		)
	if (answer) return answer
	return problem(
		409,
		'concurrent_idempotent_requests',
		'Same idempotency key used while original request is still in progress',
	)
}

const problem = (status: number, name: string, message: string) => ({
	status,
	body: { statusCode: status, name, message } as unknown,
})

function fail(response: ServerResponse, fault: ResendFault) {
	if (fault.drop) return void response.socket?.destroy()
	if (fault.hang) return
	if (fault.html) return void response.writeHead(fault.status ?? 502).end(fault.html)
	const { status = 500, name = 'internal_server_error', message = 'An unexpected error' } = fault
	say(response, status, problem(status, name, message).body, fault.headers)
}

function say(
	response: ServerResponse,
	status: number,
	body: unknown,
	headers: Record<string, string> = {},
) {
	const limits = {
		'ratelimit-limit': '5',
		'ratelimit-remaining': status === 429 ? '0' : '4',
		'ratelimit-reset': '1',
	}
	response.writeHead(status, { 'content-type': 'application/json', ...limits, ...headers })
	response.end(JSON.stringify(body))
}
