import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { ApiError } from '../errors.ts'
import { createConfirmations } from './confirmations.ts'
import { answerMessage } from './mcp-server.ts'
import { routeCalls } from './route-calls.ts'

interface Options {
	pool: Pool
	publicUrl: string
	sessionSecret: string
}

/**
 * The Model Context Protocol over streamable HTTP, for AI assistants. It is not in the OpenAPI document,
 * because the protocol describes itself to its clients.
 */
export const mcp: FastifyPluginAsync<Options> = async (app, options) => {
	const { pool, publicUrl, sessionSecret } = options
	const ownOrigin = new URL(publicUrl).origin
	const confirmations = createConfirmations(sessionSecret)
	const schema = { hide: true }
	// Reading works in a disabled project; the routes that tools call refuse the rest.
	const config = { auth: 'secret key', evenDisabled: true, passesOn: true } as const

	app.post('/mcp', { config, schema, preParsing: refuseForeignPages }, async (request, reply) => {
		if (Array.isArray(request.body)) throw noBatch()
		const answer = await answerMessage(request, () => ({
			ask: routeCalls(app, request),
			project: request.project,
			em: request.em,
			pool,
			publicUrl,
			confirmations,
		}))
		const body = Buffer.from(await answer.arrayBuffer())
		const type = answer.headers.get('content-type')
		if (type) reply.header('content-type', type)
		return reply.code(answer.status).send(body)
	})

	// There are no sessions to resume or to end.
	for (const method of ['GET', 'DELETE'] as const)
		app.route({ method, url: '/mcp', config, schema, handler: refuseMethod })

	/** As the protocol asks: a page that a browser shows must not reach it. */
	async function refuseForeignPages({ headers }: FastifyRequest) {
		if (headers.origin !== undefined && headers.origin !== ownOrigin) throw foreignOrigin()
	}
}

async function refuseMethod(_request: FastifyRequest, reply: FastifyReply) {
	reply.header('allow', 'POST')
	throw new ApiError(405, 'BAD_REQUEST', 'This endpoint keeps no sessions and opens no streams', {
		suggestion: 'Send every message with POST.',
	})
}

const foreignOrigin = () =>
	new ApiError(403, 'FORBIDDEN', 'This endpoint can’t be called from web pages', {
		suggestion: 'Call it from a program, without the header Origin.',
	})
const noBatch = () =>
	new ApiError(400, 'BAD_REQUEST', 'This endpoint takes one message at a time', {
		suggestion: 'Send each message of the batch as a request of its own.',
	})
