import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hash } from 'node:crypto'

declare module 'fastify' {
	interface FastifyContextConfig {
		/** The answers of the route contain keys or the contents of mails, so no client should keep them. */
		neverKept?: true | ((request: FastifyRequest) => boolean)
	}
}

/** Larger answers get no ETag from their bytes, and are not kept. Hashing costs 1 µs for 500 bytes, 70 µs for 100 KB and 190 µs for this much. */
const mostBytes = 256 * 2 ** 10

/** The code that makes the answers: every build has a folder of its own. */
const build = import.meta.dirname

/** The last answers that have a version, by their ETags: the open consoles of a project share one reading. */
const lastAnswers = new Map<string, string | Buffer>()
const mostAnswers = 20

/**
 * An open console asks again and again for what has rarely changed. It keeps each answer in its memory and
 * asks whether it is still the same; then it gets 304 without a body. Unless the route looks up a version, the
 * ETag is made from the bytes, so it is right whatever the answer depends on. The answer is still `no-store`:
 * a browser's cache would outlast the session. Call it last: no later hook may change the body.
 */
export function answerConditionally(app: FastifyInstance) {
	app.addHook('onSend', (request, reply, payload, done) => {
		const { method, headers } = request
		if (reply.statusCode >= 400) reply.removeHeader('etag')
		if (method !== 'GET' || reply.statusCode !== 200 || isNeverKept(request)) return done()
		if (!isShortJson(reply, payload)) return done()
		const given = reply.getHeader('etag')
		if (given !== undefined) {
			keepAnswer(String(given), payload)
			return done()
		}
		const etag = etagOf(payload)
		reply.header('etag', etag)
		if (!isKnown(headers['if-none-match'], etag)) return done()
		void reply.code(304).removeHeader('content-type')
		done(null, null)
	})
}

/**
 * Answers a caller who has this version with 304, and others with what somebody else got for it. False: the route
 * has to make the answer. Look the version up first: an answer may be newer than its version, but not older.
 */
export function answersByVersion(request: FastifyRequest, reply: FastifyReply, version: unknown) {
	if (isNeverKept(request)) return false
	const { caller, url, headers } = request
	const etag = etagOf(JSON.stringify([build, caller?.publicId, url, version]))
	reply.header('etag', etag)
	const answer = lastAnswers.get(etag)
	if (isKnown(headers['if-none-match'], etag)) void reply.code(304).send()
	else if (answer !== undefined) void reply.type('application/json; charset=utf-8').send(answer)
	else return false
	return true
}

function keepAnswer(etag: string, answer: string | Buffer) {
	lastAnswers.delete(etag)
	lastAnswers.set(etag, answer)
	for (const oldest of lastAnswers.keys())
		if (lastAnswers.size > mostAnswers) lastAnswers.delete(oldest)
}

/** By a digest that nobody can make alike: it decides who gets which of the kept answers. */
const etagOf = (content: string | Buffer) => `W/"${hash('sha256', content, 'base64url')}"`

function isNeverKept(request: FastifyRequest) {
	const { neverKept = false } = request.routeOptions.config
	return typeof neverKept === 'function' ? neverKept(request) : neverKept
}

/** Lists are written in pieces, and are bytes already. */
const isShortJson = (reply: FastifyReply, payload: unknown): payload is string | Buffer =>
	(typeof payload === 'string' || Buffer.isBuffer(payload)) &&
	payload.length <= mostBytes &&
	String(reply.getHeader('content-type')).startsWith('application/json')

/** By the weak comparison of RFC 9110, which ignores `W/`. */
const isKnown = (known: string | undefined, etag: string) =>
	known !== undefined &&
	known
		.split(',')
		.map((one) => one.trim())
		.some((one) => one === '*' || one.replace(/^W\//, '') === etag.slice(2))
