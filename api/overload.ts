import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

export interface Capacity {
	requests: number
	bodyBytes: number
}

const defaults: Capacity = { requests: 1000, bodyBytes: 192 * 2 ** 20 }
const smallBody = 2 ** 20

/**
 * Refuses at once what would only wait and fill the memory: beyond so many requests at a time, and
 * beyond so many bytes of large bodies, whose parsing takes several times their size.
 */
export function shedLoad(app: FastifyInstance, capacity: Capacity = defaults) {
	let requests = 0
	let bodyBytes = 0
	app.addHook('onRequest', (request, reply, done) => {
		const limit = request.routeOptions.bodyLimit ?? smallBody
		const isChunked = request.headers['transfer-encoding'] !== undefined
		const announced = isChunked ? limit : Number(request.headers['content-length'] ?? 0)
		// What is over the limit is refused before it is read.
		const bytes = announced > smallBody && announced <= limit ? announced : 0
		if (requests >= capacity.requests || (bytes > 0 && bodyBytes + bytes > capacity.bodyBytes))
			return done(overloaded())
		requests++
		bodyBytes += bytes
		reply.raw.once('close', () => {
			requests--
			bodyBytes -= bytes
		})
		done()
	})
}

const overloaded = () =>
	new ApiError(503, 'EXTERNAL_SERVICE_ERROR', 'The service is overloaded at the moment', {
		retryAfterSeconds: 1,
		suggestion: 'Nothing was done. Send the request again in a moment.',
	})
