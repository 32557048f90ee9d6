import type { FastifyInstance, FastifyRequest } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import {
	claimKey,
	completeClaim,
	heldKey,
	releaseClaim,
	spacedKey,
} from '../../db/idempotency-key.ts'
import { ApiError } from '../errors.ts'

declare module 'fastify' {
	interface FastifyContextConfig {
		/**
		 * The route honours Idempotency-Key. Its handler completes `request.idempotency` in the
		 * transaction of its work (`completeClaim`, or the same update within its own statement) and
		 * rolls back, with `claimLost()`, if that update finds no row. Refusals and faults are seen to here.
		 */
		idempotent?: true
	}
	interface FastifyRequest {
		/** The key is as it is stored. */
		idempotency: { key: string; claimId: string } | null
	}
}

const printableAscii = /^[\x20-\x7e]{1,255}$/
/** An answer does not wait longer for the note that is made of it. */
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
		const values = [request.project.id, key, claimId]
		// Before the answer leaves: a caller who corrects the request uses the same key at once. A fault
		// whose commit got lost on the way is noted nowhere, for the row has its outcome by then. If
		// nothing can be noted, the claim is taken over after a minute.
		const note =
			reply.statusCode < 500
				? releaseClaim(pool, values)
				: completeClaim(pool, [...values, reply.statusCode, null])
		await Promise.race([
			note.catch((err: Error) => request.log.warn({ err }, 'idempotency key not updated')),
			sleep(patienceMs, undefined, { ref: false }),
		])
	})

	async function claim(request: FastifyRequest, key: string, stored: string) {
		const { id } = request.project
		const name = nameOf(request)
		// What holds the key may be released between the two statements; then it can be claimed.
		for (let attempt = 1; attempt <= 3; attempt++) {
			const [claimed] = await claimKey(pool, [id, stored, name, ttlHours])
			if (claimed) return claimed.claimId
			const [held] = await heldKey(pool, [id, stored])
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

/** The claim was taken over, a minute after this request began: whoever holds it now does the work. */
export const claimLost = ({ headers }: Pick<FastifyRequest, 'headers'>) =>
	reused({ key: headers['idempotency-key'] })

const nameOf = ({ method, routeOptions }: FastifyRequest) => `${method} ${routeOptions.url}`

function reused(details: Record<string, unknown>) {
	const status = details['originalStatusCode']
	return new ApiError(409, 'IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used before', {
		details,
		suggestion:
			status === undefined
				? 'The original request is still under way. Ask again in a moment to see its outcome.'
				: Number(status) < 500
					? 'The original request was carried out. For a new one, use a new key.'
					: 'The original request failed and changed nothing. Repeat it with a new key.',
	})
}

const badKey = () =>
	new ApiError(400, 'BAD_REQUEST', 'The Idempotency-Key is not valid', {
		suggestion: 'Use 1 to 255 printable ASCII characters, for example a UUID.',
	})
