import type { FastifyInstance } from 'fastify'
import { meter } from '../../activities/telemetry/meter.ts'

/** Every request by its route's pattern: a URL may carry an address, and there is no end of them. */
export function measureRequests(app: FastifyInstance) {
	app.addHook('onRequest', (request, reply, done) => {
		reply.raw.once('close', () => {
			const status = reply.raw.writableEnded ? reply.statusCode : 499
			const route = request.routeOptions.url ?? 'none'
			meter.answered(request.method, route, status, reply.elapsedTime / 1000)
		})
		done()
	})
}
