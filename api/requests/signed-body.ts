import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../errors.ts'

// What all signed webhooks have in common.

export const toleranceSeconds = 5 * 60

/** A signature covers the raw bytes, so within the calling plugin the body is not parsed. */
export function keepBytes(app: FastifyInstance) {
	app.removeContentTypeParser('application/json')
	app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) =>
		done(null, bytes),
	)
}

export const isTimestamp = (text: string) => /^\d{1,12}$/.test(text)

/** A message older than five minutes may be a replay. */
export const isOfNow = (timestamp: string) =>
	Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds

/** Takes the same time wherever they differ. */
export const isSame = (expected: Buffer, given: Buffer) =>
	given.length === expected.length && timingSafeEqual(given, expected)

/** All refusals have the same suggestion for the sender. */
export const refusals = (suggestion: string) => {
	const refused = (message: string) => () =>
		new ApiError(401, 'UNAUTHORIZED', message, { suggestion })
	return {
		unsigned: refused('This request is not signed'),
		untimely: refused('The signature is too old or in the future'),
		forged: refused('The signature does not match'),
	}
}
