import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import {
	Agent as PlainAgent,
	type ClientRequest,
	type IncomingMessage,
	request as plainRequest,
} from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { inWords } from './network-faults.ts'
import { paceReading } from './paced-reading.ts'
import { isPublicAddress } from './public-address.ts'

export interface GuardOptions {
	/** Empty: uses the system's DNS servers. */
	dnsServers: string[]
	/** Then names are also looked up as this machine does it: names of its own network have no DNS servers. */
	allowPrivate: boolean
}

/** Several requests to one server, over connections that are used again. */
export interface GuardedSession {
	agents: { 'http:': PlainAgent; 'https:': SecureAgent }
	/** Checked addresses by host. */
	addresses: Map<string, Promise<LookupAddress[]>>
	/** Longer answers are cut off. */
	maxAnswerBytes: number
}

export interface GuardedRequest {
	url: string
	method: string
	headers: Record<string, string>
	body: string | null
}

export type GuardedAnswer =
	| { kind: 'answered'; status: number; text: string; retryAfter: string | null }
	/** The request is not allowed, or can never be made. */
	| { kind: 'refused'; error: string }
	/** The network or the server failed this time. */
	| { kind: 'failed'; error: string }

const patienceMs = 10_000
const maxRedirects = 5
const maxAnswerBytes = 64 * 1024
/** Servers send one or two answers such as 103 before their own, and some a 102 every few seconds. */
const maxInterimAnswers = 20
const redirects = new Set([301, 302, 303, 307, 308])

class Refusal extends Error {}

/** Keep a session short: its addresses are looked up once. Close it by `close`. */
export function openSession({
	connections,
	maxAnswerBytes,
}: {
	connections: number
	maxAnswerBytes: number
}): GuardedSession & { close(): void } {
	const options = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections }
	const agents = { 'http:': new PlainAgent(options), 'https:': new SecureAgent(options) }
	return {
		agents,
		addresses: new Map(),
		maxAnswerBytes,
		close() {
			for (const agent of Object.values(agents)) agent.destroy()
		},
	}
}

/**
 * One request of a session. It follows no redirects, because most of them would lose the method and the body. If the
 * server closed a kept connection at this moment, the request is made again. The text of the answer is only shown.
 */
export async function sessionRequest(
	request: GuardedRequest,
	options: GuardOptions,
	session: GuardedSession,
): Promise<GuardedAnswer> {
	const signal = AbortSignal.timeout(patienceMs)
	try {
		const url = readUrl(request.url)
		const addresses = await withSignal(knownAddresses(url, options, session), signal)
		const attempt = () => send(url, request, addresses, signal, session)
		const answer = await attempt().catch((error: unknown) => {
			if (error instanceof ConnectionKept) return attempt()
			throw error
		})
		return await read(answer, session.maxAnswerBytes, false)
	} catch (error) {
		return failure(error, signal)
	}
}

/** A kept connection was closed before it answered. */
class ConnectionKept extends Error {}

function knownAddresses(url: URL, options: GuardOptions, { addresses }: GuardedSession) {
	const known = addresses.get(url.hostname)
	if (known) return known
	const found = addressesOf(url, options)
	addresses.set(url.hostname, found)
	// A failed look-up is repeated by the next request.
	found.catch(() => addresses.delete(url.hostname))
	return found
}

function failure(error: unknown, signal: AbortSignal): GuardedAnswer {
	if (error instanceof Refusal) return { kind: 'refused', error: error.message }
	const { code, message } = error as { code?: string; message: string }
	const isLate = signal.aborted || code === 'ETIMEOUT'
	if (isLate) return { kind: 'failed', error: 'No answer within ten seconds' }
	return { kind: 'failed', error: code === undefined ? message : inWords(code) }
}

/**
 * A request to a URL from a customer. Its host is resolved once, every address must be public, and the
 * connection goes to these checked addresses, even if DNS changes in between. Each redirect is a new
 * request with the same checks and may not leave the origin: headers, body and signature are meant for one
 * server. Time and size are limited.
 */
export async function guardedRequest(
	first: GuardedRequest,
	options: GuardOptions,
): Promise<GuardedAnswer> {
	const signal = AbortSignal.timeout(patienceMs)
	try {
		let wanted = first
		for (let followed = 0; ; followed++) {
			const url = readUrl(wanted.url)
			const addresses = await withSignal(addressesOf(url, options), signal)
			const answer = await withSignal(send(url, wanted, addresses, signal), signal)
			const { location } = answer.headers
			if (!redirects.has(answer.statusCode!) || location === undefined)
				return await withSignal(read(answer, maxAnswerBytes), signal)
			answer.destroy()
			if (followed === maxRedirects) throw new Refusal('It redirects more than five times')
			wanted = redirected(wanted, url, location, answer.statusCode!)
		}
	} catch (error) {
		return failure(error, signal)
	}
}

function readUrl(text: string) {
	const url = URL.parse(text)
	if (!url || !['http:', 'https:'].includes(url.protocol))
		throw new Refusal('The URL must start with http:// or https://')
	return url
}

async function addressesOf(url: URL, options: GuardOptions): Promise<LookupAddress[]> {
	// The URL parser has normalised decimal, octal and shortened addresses.
	const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
	const literal = isIP(host)
	const found = literal ? [{ address: host, family: literal }] : await resolve(host, options)
	if (found.length === 0) throw new Error('The host name has no address')
	if (!options.allowPrivate && !found.every(({ address }) => isPublicAddress(address)))
		throw new Refusal('The host is in a private network')
	return found
}

const lookUp = promisify(systemLookup)
const isLocalhost = /(^|\.)localhost\.?$/

/**
 * Asks DNS itself. The system's look-up blocks one of a few threads that the whole process shares, and can't be ended:
 * slow names of one customer would hold up everybody.
 */
async function resolve(host: string, options: GuardOptions): Promise<LookupAddress[]> {
	const servers = options.dnsServers
	if (servers.length === 0 && options.allowPrivate) return lookUp(host, { all: true })
	if (isLocalhost.test(host)) return [{ address: '127.0.0.1', family: 4 }]
	const resolver = new Resolver({ timeout: 2000, tries: 2 })
	if (servers.length > 0) resolver.setServers(servers)
	const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
	if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
	return [
		...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 })),
		...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 })),
	]
}

function send(
	url: URL,
	{ method, headers, body }: GuardedRequest,
	addresses: LookupAddress[],
	signal: AbortSignal,
	session?: GuardedSession,
) {
	const request = url.protocol === 'https:' ? secureRequest : plainRequest
	return new Promise<IncomingMessage>((resolve, reject) => {
		const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) }
		let outgoing: ClientRequest
		try {
			outgoing = request(url, {
				method,
				headers: { 'accept-encoding': 'identity', ...headers, ...length },
				signal,
				agent: session?.agents[url.protocol as 'http:'] ?? false,
				lookup: (_host, { all }, answer) =>
					all ? answer(null, addresses) : answer(null, addresses[0]!.address, addresses[0]!.family),
			})
		} catch (error) {
			// Node validates headers and the like before it sends anything.
			reject(new Refusal(`The request cannot be made: ${(error as Error).message}`))
			return
		}
		outgoing.on('socket', paceReading)
		outgoing.on('response', resolve)
		let interimAnswers = 0
		outgoing.on('information', () => {
			interimAnswers += 1
			if (interimAnswers > maxInterimAnswers)
				outgoing.destroy(new Refusal(`It sent more than ${maxInterimAnswers} interim answers`))
		})
		outgoing.on('error', (error: NodeJS.ErrnoException) => {
			const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET'
			reject(isStale ? new ConnectionKept(error.code) : error)
		})
		// Node detaches an upgraded connection, so neither a response nor an error would follow.
		outgoing.on('upgrade', (_answer, socket) => {
			socket.destroy()
			reject(new Refusal('It answered by switching to another protocol'))
		})
		outgoing.on('close', () => reject(new Error('The connection was closed without an answer')))
		outgoing.end(body ?? undefined)
	})
}

/** As in browsers, only 307 and 308 keep the method and body. */
function redirected(
	{ method, headers, body }: GuardedRequest,
	from: URL,
	location: string,
	status: number,
): GuardedRequest {
	const url = URL.parse(location, from.href)
	if (!url) throw new Refusal('It redirects to an invalid URL')
	if (url.origin !== from.origin)
		throw new Refusal(
			`It redirects to another server (${url.origin.slice(0, 300)}), and signed requests are not forwarded. Use the new URL in the step`,
		)
	const isSame = status === 307 || status === 308 || method === 'GET'
	return {
		url: url.href,
		method: isSame ? method : 'GET',
		headers,
		body: isSame ? body : null,
	}
}

/**
 * A longer response is cut off, and the rest is not read. `isNeeded`: the text must be complete. Otherwise the status
 * counts, whatever happens to the text.
 */
async function read(
	answer: IncomingMessage,
	most: number,
	isNeeded = true,
): Promise<GuardedAnswer> {
	const chunks: Buffer[] = []
	let bytes = 0
	try {
		for await (const chunk of answer as AsyncIterable<Buffer>) {
			chunks.push(chunk)
			bytes += chunk.length
			if (bytes >= most) break
		}
	} catch (error) {
		if (isNeeded) throw error
	}
	// A connection whose answer was read to its end can be used again.
	if (!answer.complete) answer.destroy()
	const text = Buffer.concat(chunks).subarray(0, most).toString()
	const { 'retry-after': retryAfter = null } = answer.headers
	return { kind: 'answered', status: answer.statusCode!, text, retryAfter }
}

async function withSignal<T>(work: Promise<T>, signal: AbortSignal) {
	const aborted = Promise.withResolvers<never>()
	const abort = () => aborted.reject(new Error('timeout'))
	signal.addEventListener('abort', abort, { once: true })
	if (signal.aborted) abort()
	try {
		return await Promise.race([work, aborted.promise])
	} finally {
		signal.removeEventListener('abort', abort)
	}
}
