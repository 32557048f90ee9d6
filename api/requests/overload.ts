// Ours, not @fastify/under-pressure: while 3,000 requests waited 14 s for 10 connections, it refused none.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { envelope, overloaded } from '../errors.ts'
import { watchArrivals } from './arrivals.ts'
import { watchCongestion } from './congestion.ts'
import { watchDepartures } from './departures.ts'
import { watchLargeBodies } from './large-bodies.ts'

declare module 'fastify' {
	interface FastifyContextConfig {
		/** The route needs no database, or serves load balancers, so it is not refused under overload. */
		evenOverloaded?: true
		/** The route only calls other routes, which are counted themselves. */
		passesOn?: true
		/** Its stream comes from a file, and takes nothing that other requests need. */
		streamsFile?: true
	}
	interface FastifyRequest {
		stage: 'under way' | 'arriving' | 'aside' | 'left'
		/**
		 * Waits for servers of others without a place among the requests that are under way. The work needs a
		 * limit of its own.
		 */
		stepAside<T>(work: () => Promise<T>): Promise<T>
	}
}

const smallBody = 2 ** 20
const defaults = {
	requests: 200,
	/** How many small bodies may be arriving at a time, and for how long: 1 MB at 35 KB a second. */
	arriving: 2000,
	arrivalMs: 30_000,
	bodyBytes: 192 * 2 ** 20,
	/** How many answers may be on their way, and for how long their readers may read nothing. */
	departing: 1000,
	departingBytes: 64 * 2 ** 20,
	readingMs: 15_000,
}
export type Capacity = Partial<typeof defaults>

const notingMs = 1000

/**
 * Refuses at once requests that would only wait and fill the memory: beyond a number of requests at a time
 * (fewer while they wait for the database), and beyond a size of large bodies, whose parsing takes several
 * times their size. A request that waits for its body is not under way, because a caller can send it
 * arbitrarily slowly; nor is one that waits for name servers, whose owners can be as slow. For the same
 * reason a large body takes its room only as it arrives, when its caller is known.
 */
export function shedLoad(app: FastifyInstance, pool: Pool, capacity: Capacity = {}) {
	const most = { ...defaults, ...capacity }
	let requests = 0
	let refused = 0
	const congestion = watchCongestion(pool, () => requests, most.requests)
	const arrivals = watchArrivals({
		most: most.arriving,
		mostBytes: most.requests * smallBody,
		patienceMs: most.arrivalMs,
	})
	const largeBodies = watchLargeBodies({
		mostBytes: most.bodyBytes,
		smallBytes: smallBody,
		patienceMs: most.arrivalMs,
	})
	const departures = watchDepartures({
		most: most.departing,
		mostBytes: most.departingBytes,
		patienceMs: most.readingMs,
	})
	app.addHook('onClose', async () => {
		congestion.stop()
		departures.stop()
	})
	app.decorateRequest('stage', 'left')
	app.decorateRequest('stepAside', async function <
		T,
	>(this: FastifyRequest, work: () => Promise<T>) {
		if (this.stage === 'under way') move(this, 'aside')
		try {
			return await work()
		} finally {
			// Unless its caller has left.
			if (this.stage === 'aside') move(this, 'under way')
		}
	})

	app.addHook('onRequest', (request, reply, done) => {
		if (isCrowded(request)) return refuse(request, reply)
		move(request, 'under way')
		reply.raw.once('close', () => {
			move(request, 'left')
			largeBodies.leave(request)
		})
		done()
	})

	// The caller is known, and most bodies have arrived by now.
	app.addHook('preParsing', (request, reply, _payload, done) => {
		const bytes = bytesOf(request)
		if (bytes > smallBody) {
			const refusal = largeBodies.enter(request, reply, isChunked(request) ? 0 : bytes)
			if (refusal) return refuse(request, reply, refusal)
		}
		if (bytes > 0 && !request.raw.complete) {
			move(request, 'arriving')
			if (bytes <= smallBody) arrivals.enter(request, reply, bytes)
		}
		done()
	})

	app.addHook('preValidation', (request, reply, done) => {
		if (request.stage !== 'arriving') return done()
		// The handler reads a form.
		if (!request.raw.readableEnded) {
			request.raw.once('end', () => request.stage === 'arriving' && move(request, 'under way'))
			return done()
		}
		// Large requests have room of their own, and most of their work is done.
		if (!largeBodies.has(request) && isCrowded(request)) return refuse(request, reply)
		move(request, 'under way')
		done()
	})

	// Otherwise such requests would take the places of those that they wait for.
	app.addHook('preHandler', (request, _reply, done) => {
		if (request.routeOptions.config.passesOn) move(request, 'left')
		done()
	})

	app.addHook('onSend', (request, reply, payload, done) => {
		const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
		departures.enter(reply, isWhole ? payload.length : 0)
		// A complete answer needs no more work; a stream is still being produced.
		if (isWhole || request.routeOptions.config.streamsFile) move(request, 'left')
		done()
	})

	function move(request: FastifyRequest, stage: FastifyRequest['stage']) {
		if (request.stage === 'under way') requests--
		if (request.stage === 'arriving') arrivals.leave(request)
		if (stage === 'under way') requests++
		request.stage = stage
	}

	function isCrowded({ routeOptions }: FastifyRequest) {
		const limit = routeOptions.config.evenOverloaded ? 2 * most.requests : congestion.limit()
		return requests >= limit
	}

	/** Bypasses the error handler, which is slower. */
	function refuse(request: FastifyRequest, reply: FastifyReply, refusal = overloaded()) {
		note()
		void reply
			.code(refusal.status)
			.header('retry-after', refusal.extras.retryAfterSeconds)
			.send(envelope(refusal, request.id))
	}

	/** Logs refusals together now and then: logging each would cost more than refusing it. */
	function note() {
		if (refused++ > 0) return
		setTimeout(() => {
			app.log.warn({ refused, requests }, 'overloaded: requests were refused')
			refused = 0
		}, notingMs).unref()
	}
}

const isChunked = ({ headers }: FastifyRequest) => headers['transfer-encoding'] !== undefined

/** The size that the body may have: as announced, but at most the route's limit. */
function bytesOf(request: FastifyRequest) {
	const { method, headers, routeOptions } = request
	if (method === 'GET' || method === 'HEAD') return 0
	const limit = routeOptions.bodyLimit ?? smallBody
	return isChunked(request) ? limit : Math.min(limit, Number(headers['content-length'] ?? 0))
}
