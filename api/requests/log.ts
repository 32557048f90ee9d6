import { LogController, type FastifyInstance } from 'fastify'
import type { LoggerOptions } from 'pino'

interface DatabaseFault extends Error {
	code?: string
	constraint?: string
	table?: string
	routine?: string
}

interface SafeError extends Record<string, unknown> {
	type: string
	message: string
	stack: string
}

/** Pino's options. Errors are written without what people sent: no queries, no rows, no values. */
export const logOptions = (level: string) =>
	({ level, base: { process: 'api' }, serializers: { err: withoutData } }) satisfies LoggerOptions

export const quietController = () =>
	new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' })

/** The message of a database error contains the query or the faulty values. */
function withoutData(error: DatabaseFault): SafeError {
	const { name, code, constraint, table, routine, stack = '', cause } = error
	const isFromDatabase = routine !== undefined || /^[0-9A-Z]{5}$/.test(code ?? '')
	const frames = stack.slice(Math.max(0, stack.search(/\n {4}at /)))
	return {
		type: error.constructor?.name ?? name,
		message: isFromDatabase ? 'database error' : error.message,
		...(isFromDatabase ? { constraint, table, routine } : {}),
		code,
		stack: frames.trim().split('\n').slice(0, 12).join('\n'),
		...(cause instanceof Error ? { cause: withoutData(cause) } : {}),
	}
}

/** One line a request: the route's pattern rather than the URL, which may carry an address. */
export function logRequests(app: FastifyInstance) {
	app.addHook('onRequest', (request, reply, done) => {
		reply.raw.once('close', () => {
			const { method, routeOptions, caller, log } = request
			log.info(
				{
					method,
					route: routeOptions.url ?? null,
					// nginx's number for a caller who left before the answer was ready
					status: reply.raw.writableEnded ? reply.statusCode : 499,
					ms: Math.round(reply.elapsedTime * 10) / 10,
					...(caller ? { projectId: caller.id } : {}),
				},
				'request',
			)
		})
		done()
	})
}
