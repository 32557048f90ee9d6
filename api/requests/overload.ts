import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { ApiError, envelope } from '../errors.ts'
import { watchCongestion } from './congestion.ts'

declare module 'fastify' {
	interface FastifyContextConfig {
		/** Answered without the database, or asked by those who decide about us: not refused in a crowd. */
		evenOverloaded?: true
	}
}

export interface Capacity {
	requests: number
	bodyBytes: number
}

const defaults: Capacity = { requests: 200, bodyBytes: 192 * 2 ** 20 }
const smallBody = 2 ** 20
const notingMs = 1000
const retryAfterSeconds = 1

/**
 * Refuses at once what would only wait and fill the memory: beyond so many requests at a time (fewer
 * while they wait for the database), and beyond so many bytes of large bodies, whose parsing takes
 * several times their size.
 */
export function shedLoad(app: FastifyInstance, pool: Pool, capacity: Capacity = defaults) {
	let requests = 0
	let bodyBytes = 0
	let refused = 0
	const congestion = watchCongestion(pool, () => requests, capacity.requests)
	app.addHook('onClose', async () => congestion.stop())
	app.addHook('onRequest', (request, reply, done) => {
		const limit = request.routeOptions.bodyLimit ?? smallBody
		const isChunked = request.headers['transfer-encoding'] !== undefined
		const announced = isChunked ? limit : Number(request.headers['content-length'] ?? 0)
		// What is over the limit is refused before it is read.
		const bytes = announced > smallBody && announced <= limit ? announced : 0
		const most = request.routeOptions.config.evenOverloaded
			? 2 * capacity.requests
			: congestion.limit()
		if (requests >= most || (bytes > 0 && bodyBytes + bytes > capacity.bodyBytes)) {
			note()
			return refuse(request, reply)
		}
		requests++
		bodyBytes += bytes
		reply.raw.once('close', () => {
			requests--
			bodyBytes -= bytes
		})
		done()
	})

	/** Now and then for all of them: to write of each would cost more than to refuse it. */
	function note() {
		if (refused++ > 0) return
		setTimeout(() => {
			app.log.warn({ refused, requests }, 'overloaded: requests were refused')
			refused = 0
		}, notingMs).unref()
	}
}

export const overloaded = () =>
	new ApiError(503, 'EXTERNAL_SERVICE_ERROR', 'The service is overloaded at the moment', {
		retryAfterSeconds,
		suggestion: 'Nothing was done. Send the request again in a moment.',
	})

/** Without the way that errors go, which is longer. */
function refuse(request: FastifyRequest, reply: FastifyReply) {
	void reply
		.code(503)
		.header('retry-after', retryAfterSeconds)
		.send(envelope(overloaded(), request.id))
}
