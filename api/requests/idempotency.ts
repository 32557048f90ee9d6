import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import {
	claimKey,
	completeClaim,
	heldKey,
	releaseClaim,
	spacedKey,
} from '../../db/idempotency-key.ts'
import { inTime } from '../../db/in-time.ts'
import { ApiError } from '../errors.ts'

declare module 'fastify' {
	interface FastifyContextConfig {
		/**
		 * The route honours Idempotency-Key. Its handler completes `request.idempotency` in the transaction of
		 * its work (`completeClaim`, or the same update within its own statement). If that update finds no row,
		 * the handler rolls back with `claimLost()`. Refusals and faults are handled here.
		 */
		idempotent?: true
	}
	interface FastifyRequest {
		/** The key in its stored form. */
		idempotency: { key: string; claimId: string } | null
	}
}

const printableAscii = /^[\x20-\x7e]{1,255}$/
/** The longest an answer waits for the record of its outcome. */
const patienceMs = 1000

/** Runs after the body was read and before it is validated. */
export function keepIdempotency(app: FastifyInstance, pool: Pool, ttlHours: number) {
	app.decorateRequest('idempotency', null)
	app.addHook('preValidation', async (request) => {
		const key = request.headers['idempotency-key']
		if (key === undefined || !request.routeOptions.config.idempotent) return
		if (typeof key !== 'string' || !printableAscii.test(key)) throw badKey()
		const isPublic = request.routeOptions.config.auth === 'public key'
		const stored = spacedKey(key, isPublic ? 'public' : 'secret')
		request.idempotency = { key: stored, claimId: await claim(request, key, stored) }
	})
	app.addHook('onSend', async (request, reply) => {
		if (!request.idempotency || reply.statusCode < 400) return
		const { key, claimId } = request.idempotency
		const values = { projectId: request.project.id, key, claimId }
		// Before the answer is sent, because a caller who corrects the request may use the same key at once. For
		// a fault after a commit that seemed lost, nothing is recorded, because the row has its outcome already.
		// If recording fails, the claim is taken over after a minute.
		const note =
			reply.statusCode < 500
				? releaseClaim(pool, values)
				: completeClaim(pool, { ...values, statusCode: reply.statusCode, response: null })
		const noted = note.catch((err: Error) =>
			request.log.warn({ err }, 'idempotency key not updated'),
		)
		await inTime(patienceMs, noted)
	})

	async function claim(request: FastifyRequest, key: string, stored: string) {
		const { id } = request.project
		const name = nameOf(request)
		// The holder may release the key between the two statements; then it can be claimed.
		for (let attempt = 1; attempt <= 3; attempt++) {
			const [claimed] = await claimKey(pool, {
				projectId: id,
				key: stored,
				request: name,
				hours: ttlHours,
			})
			if (claimed) return claimed.claimId
			const [held] = await heldKey(pool, { projectId: id, key: stored })
			if (!held) continue
			throw reused({
				key,
				originalRequest: held.request,
				originalRequestAt: new Date(`${held.claimedAt}Z`).toISOString(),
				...(held.statusCode === null ? {} : { originalStatusCode: held.statusCode }),
				...(held.response === null ? {} : { response: held.response }),
			})
		}
		throw reused({ key })
	}
}

/** The claim was taken over a minute after this request began. The new holder does the work. */
export const claimLost = ({ headers }: Pick<FastifyRequest, 'headers'>) =>
	reused({ key: headers['idempotency-key'] })

const nameOf = ({ method, routeOptions }: FastifyRequest) => `${method} ${routeOptions.url}`

function reused(details: Record<string, unknown>) {
	const status = details['originalStatusCode']
	return new ApiError(409, 'IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used before', {
		details,
		suggestion:
			status === undefined
				? 'The original request is still in progress. Repeat the request in a moment to see its outcome.'
				: Number(status) < 500
					? 'The original request was completed. Use a new key for a new request.'
					: 'The original request failed and changed nothing. Repeat it with a new key.',
	})
}

const badKey = () =>
	new ApiError(400, 'BAD_REQUEST', 'The Idempotency-Key is not valid', {
		suggestion: 'Use 1 to 255 printable ASCII characters, for example a UUID.',
	})
