import type { FastifyInstance } from 'fastify'
import { type OpenSpan, tracer } from '../../outside/telemetry/tracer.ts'

declare module 'fastify' {
	interface FastifyRequest {
		span: OpenSpan | null
	}
}

/** Every request is a span, in its caller's trace if there is one. */
export function traceRequests(app: FastifyInstance) {
	app.decorateRequest('span', null)
	app.addHook('onRequest', (request, reply, done) => {
		const { method, headers, routeOptions } = request
		const route = routeOptions.url ?? 'none'
		const parent = typeof headers['traceparent'] === 'string' ? headers['traceparent'] : null
		const attributes = { 'http.request.method': method, 'http.route': route }
		const span = tracer.begin(`${method} ${route}`, { kind: 'server', parent, attributes })
		request.span = span
		reply.raw.once('close', () => {
			const status = reply.raw.writableEnded ? reply.statusCode : 499
			span.end(
				{ 'http.response.status_code': status, 'tempost.request.id': request.id },
				status >= 500,
			)
		})
		done()
	})
	// Only here, because reading the body leaves the asynchronous context of the request.
	app.addHook('preValidation', (request, _reply, done) => request.span!.within(done))
}
