import type { FastifyInstance, FastifyRequest } from 'fastify'
import { networkOf } from '../accounts/throttling.ts'
import { isReading } from '../accounts/session-auth.ts'
import { countByMinute, tooMany } from './minute-counts.ts'

/** No key or session, a wrong one, or an invalid body. A missing record is not a failure. */
const failing = new Set([400, 401, 413, 415, 422])

/**
 * Limits the failures of one network per minute without a valid key or session; 0 is no limit. A whole
 * office may share an address: beyond the limit its valid keys and sessions still work, but anonymous
 * requests are no longer read. Call it before `authenticate`.
 */
export function limitFailures(app: FastifyInstance, limit: number) {
	const counts = countByMinute()

	/** Throws if the network of an anonymous request has failed too often. */
	function refuse({ ip }: FastifyRequest) {
		if (limit > 0 && counts.of(networkOf(ip)) >= limit)
			throw tooMany(
				`More than ${limit} requests from your network failed in this minute`,
				counts.secondsLeft(),
			)
	}

	app.addHook('onRequest', async (request) => {
		const { method, routeOptions } = request
		if (routeOptions.config.auth === 'none' && !isReading(method)) refuse(request)
	})
	app.addHook('onResponse', (request, reply, done) => {
		const isAnonymous = !request.caller && !request.visitor
		if (isAnonymous && failing.has(reply.statusCode)) counts.add(networkOf(request.ip))
		done()
	})
	return refuse
}
