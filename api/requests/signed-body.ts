import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../errors.ts'

// What webhooks that are signed have in common, whoever signs them.

const toleranceSeconds = 5 * 60

/** A signature is over the bytes: within the plugin that calls this nobody parses them first. */
export function keepBytes(app: FastifyInstance) {
	app.removeContentTypeParser('application/json')
	app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) =>
		done(null, bytes),
	)
}

export const isTimestamp = (text: string) => /^\d{1,12}$/.test(text)

/** What is older than five minutes may have been recorded and sent again. */
export const isOfNow = (timestamp: string) =>
	Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds

/** In the same time wherever they differ. */
export const isSame = (expected: Buffer, given: Buffer) =>
	given.length === expected.length && timingSafeEqual(given, expected)

/** What to do about each of its refusals is the same for a sender. */
export const refusals = (suggestion: string) => {
	const refused = (message: string) => () =>
		new ApiError(401, 'UNAUTHORIZED', message, { suggestion })
	return {
		unsigned: refused('This request is not signed'),
		untimely: refused('The signature is too old, or from the future'),
		forged: refused('The signature does not match'),
	}
}
