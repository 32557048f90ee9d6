import { errorCodes, type FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { gathered } from './gathering.ts'

/** Reads a large body as bytes, as Fastify does. */
export async function receive(request: FastifyRequest, payload: Readable) {
	const limit = request.routeOptions.bodyLimit
	const promised = Number(request.headers['content-length'])
	if (promised > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
	const chunks = await chunksOf(payload, limit)
	const bytes = await gathered(chunks)
	if (!Number.isNaN(promised) && promised !== bytes.length)
		throw new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH()
	return bytes
}

/** Uses events: iterating over a broken request would close its connection before the answer. */
const chunksOf = (payload: Readable, limit: number) =>
	new Promise<Buffer[]>((done, fail) => {
		const chunks: Buffer[] = []
		let length = 0

		function take(chunk: Buffer) {
			length += chunk.length
			if (length > limit) end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
			else chunks.push(chunk)
		}

		function end(error?: Error & { statusCode?: number }) {
			payload.off('data', take).off('end', end).off('error', end)
			if (!error) return done(chunks)
			if (!((error.statusCode ?? 0) >= 400)) error.statusCode = 400
			fail(error)
		}

		payload.on('data', take).on('end', end).on('error', end).resume()
	})
