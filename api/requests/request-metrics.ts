import type { FastifyInstance } from 'fastify'
import { meter } from '../../outside/telemetry/meter.ts'

/**
 * Counts requests by their route's pattern, because URLs may contain addresses, and there is no limit to
 * their number.
 */
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
