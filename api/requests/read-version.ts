import type { FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'

declare module 'fastify' {
	interface FastifyContextConfig {
		/** The route takes If-Match: it calls `refuseChanged`. */
		ifMatch?: true
	}
}

/** With If-Match, a caller acts only on the version that it has read: its `updatedAt` in quotes. */
export function refuseChanged(
	{ headers }: FastifyRequest,
	noun: 'campaign' | 'template' | 'workflow',
	{ updatedAt }: { updatedAt: Date },
) {
	const read = headers['if-match']
	if (read === undefined || read === '*' || read === `"${updatedAt.toISOString()}"`) return
	throw new ApiError(409, 'CONFLICT', `This ${noun} has changed since it was read`, {
		details: { updatedAt },
		suggestion: 'Read it again, and send the request with its new updatedAt in If-Match.',
	})
}
