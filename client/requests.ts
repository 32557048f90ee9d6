import { checkUrl } from './address.ts'
import { errorOf, parsed, TempostError } from './errors.ts'
import { checkedKey, checkHeaders } from './header-checks.ts'
import { isPage } from './lists.ts'
import type { ChangeOptions, TempostOptions } from './options.ts'
import {
	firstAnswer,
	hasFailed,
	longestInProgressMs,
	mostFailedKeys,
	nextKey,
	sleep,
	waitBeforeRetry,
	waitWhileInProgress,
} from './retries.ts'
import type { Route } from './route.ts'

/** The options of a client, completed. A session may begin and end while it is used. */
export type Connection = TempostOptions & { url: string; timeoutMs: number; retries: number }

/** One request, as it is repeated. */
export interface Prepared {
	route: Route
	/** With its ids and its query. */
	path: string
	body?: string | FormData
	contentType?: string | undefined
}

/** The key of a try, and the headers that the caller gave. */
interface Given {
	key: string | undefined
	headers: Record<string, string>
}

export async function perform(
	connection: Connection,
	prepared: Prepared,
	options: ChangeOptions = {},
): Promise<unknown> {
	checkUrl(connection.url)
	const { route } = prepared
	const retries = options.retries ?? connection.retries
	const headers = lowerCased({ ...connection.headers, ...options.headers })
	const givenKey = options.idempotencyKey ?? headers['idempotency-key']
	const firstKey = route.takesKey ? checkedKey(givenKey ?? crypto.randomUUID()) : undefined
	let key = firstKey
	// If it was done and the answer was lost, its own change would be in the way of the next try.
	const isRepeatable = route.isRepeatable && options.unchangedSince === undefined
	let failedKeys = 0
	let attempt = 0
	let giveUpAt: number | undefined
	for (;;) {
		try {
			return await tryOnce(connection, prepared, { key, headers }, options)
		} catch (error) {
			if (!(error instanceof TempostError)) throw error
			const first = firstAnswer(error, `${route.method} ${route.path}`)
			if (first) return unwrapped(first.response)
			const patienceMs = waitWhileInProgress(error)
			if (patienceMs !== undefined && retries > 0) {
				giveUpAt ??= performance.now() + longestInProgressMs
				if (performance.now() < giveUpAt) {
					await sleep(patienceMs, options.signal)
					continue
				}
			}
			// Not a try of its own: it only tells that an earlier one has failed.
			if (hasFailed(error) && retries > 0 && failedKeys < mostFailedKeys) {
				key = await nextKey(firstKey!, ++failedKeys)
				continue
			}
			const waitMs = waitBeforeRetry(error, isRepeatable, attempt)
			if (waitMs === undefined || attempt >= retries) throw error
			await sleep(waitMs, options.signal)
			attempt += 1
		}
	}
}

async function tryOnce(
	connection: Connection,
	prepared: Prepared,
	given: Given,
	options: ChangeOptions,
) {
	const { route, path, body } = prepared
	const { fetch = globalThis.fetch, url } = connection
	const timeoutMs = options.timeoutMs ?? connection.timeoutMs
	const timeout = AbortSignal.timeout(timeoutMs)
	try {
		const response = await fetch(`${url}${path}`, {
			method: route.method,
			headers: headersOf(connection, prepared, given, options),
			signal: options.signal ? AbortSignal.any([timeout, options.signal]) : timeout,
			...(body !== undefined && { body }),
			...(route.answer === 'location' && { redirect: 'manual' as const }),
		})
		keepSession(connection, response)
		return await answerOf(route, response)
	} catch (error) {
		if (error instanceof TempostError) throw error
		options.signal?.throwIfAborted()
		throw timeout.aborted ? timedOut(timeoutMs, error) : unreachable(url, error)
	}
}

function headersOf(
	connection: Connection,
	{ route, contentType }: Prepared,
	{ key, headers }: Given,
	options: ChangeOptions,
): Record<string, string> {
	const { unchangedSince, projectId = connection.projectId } = options
	const all = {
		...(contentType && { 'content-type': contentType }),
		...(unchangedSince !== undefined && { 'if-match': `"${unchangedSince}"` }),
		...(projectId && { 'x-project-id': projectId }),
		...credentialsFor(connection, route),
		...headers,
		...(key !== undefined && { 'idempotency-key': key }),
	}
	checkHeaders(all, route)
	return all
}

/** Later headers replace earlier ones of the same name. As two spellings, both would be sent as one value. */
const lowerCased = (headers: Record<string, string>): Record<string, string> =>
	Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function credentialsFor(connection: Connection, { name, access }: Route): Record<string, string> {
	const { secretKey, publicKey, session, url } = connection
	const bearer = access === 'public' ? publicKey : access === 'session' ? undefined : secretKey
	if (bearer !== undefined && access !== undefined) return { authorization: `Bearer ${bearer}` }
	// A browser sends both by itself, and allows no script to.
	if (session !== undefined && access !== 'public' && access !== 'secret')
		return { cookie: `session=${session}`, origin: new URL(url).origin }
	if (
		access === undefined ||
		(access !== 'public' && access !== 'secret' && 'document' in globalThis)
	)
		return {}
	throw missing(name, access)
}

const credentials = {
	secret: ['the secret key', 'Pass `secretKey` to new Tempost(), or set TEMPOST_SECRET_KEY.'],
	public: ['the public key', 'Pass `publicKey` to new Tempost(), or set TEMPOST_PUBLIC_KEY.'],
	session: ['a session', 'Call auth.logIn() first, or pass `session` to new Tempost().'],
	either: ['the secret key', 'Pass `secretKey` to new Tempost(), or set TEMPOST_SECRET_KEY.'],
} as const

function missing(name: string, access: keyof typeof credentials) {
	const [needed, suggestion] = credentials[access]
	return new TempostError('MISSING_CREDENTIAL', `${name} needs ${needed}`, { suggestion })
}

/** Runtimes other than browsers let us read the cookie of a log-in, and its end at a log-out. */
function keepSession(connection: Connection, { headers }: Response) {
	for (const cookie of headers.getSetCookie?.() ?? []) {
		const value = /^session=([^;]*)/.exec(cookie)?.[1]
		if (value !== undefined) connection.session = value || undefined
	}
}

async function answerOf({ answer, fault }: Route, response: Response): Promise<unknown> {
	if (answer === 'location' && response.status === 303) return response.headers.get('location')
	if (!response.ok) return answerOrFault(fault, response, await response.text())
	if (answer === 'bytes') return response.arrayBuffer()
	const text = await response.text()
	if (answer === 'text') return text
	const { status } = response
	const found = text === '' ? undefined : unwrapped(fromJson(text, status))
	if ((answer === 'list' && !isPage(found)) || (answer === 'array' && !Array.isArray(found)))
		throw new TempostError('UNEXPECTED_ANSWER', 'The answer is not a list', {
			status,
			suggestion: 'Check the address (`url`, or TEMPOST_URL): another service may answer there.',
		})
	return found
}

function fromJson(text: string, status: number): unknown {
	try {
		return JSON.parse(text)
	} catch (cause) {
		throw new TempostError('UNEXPECTED_ANSWER', 'The answer is not JSON', { status, cause })
	}
}

/** A fault is an error, unless its body is the answer that the route documents for its status. */
function answerOrFault(fault: Route['fault'], response: Response, text: string) {
	const answer = fault?.status === response.status ? parsed(text) : undefined
	if (answer && fault?.members.every((member) => member in answer)) return answer
	throw errorOf(response, text)
}

/** Some routes wrap their answer: `{ success, data }`. */
const unwrapped = (answer: unknown) =>
	typeof answer === 'object' && answer !== null && 'success' in answer && 'data' in answer
		? answer.data
		: answer

const timedOut = (timeoutMs: number, cause: unknown) =>
	new TempostError('TIMEOUT', `The service did not answer within ${timeoutMs} ms`, { cause })

const unreachable = (url: string, cause: unknown) =>
	new TempostError('NETWORK_ERROR', `${url} cannot be reached`, {
		cause,
		suggestion: 'Check the address (`url`, or TEMPOST_URL) and that the service is running.',
	})
