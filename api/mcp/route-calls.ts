import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import { takeTurn } from '../../db/event-loop.ts'
import { ApiError, type ErrorCode, type FieldError, overloaded } from '../errors.ts'
import { readAnswer } from './large-answers.ts'

interface RouteOptions {
	query?: Record<string, string | number | boolean | undefined>
	body?: object
	idempotencyKey?: string | undefined
	/** The `updatedAt` of the record that the call is about. If it has changed, the route refuses. */
	unchangedSince?: Date | string
}

/** Calls a route and returns its answer. Its refusal is thrown as the same ApiError. */
export type AskRoute = <Answer>(
	method: 'GET' | 'POST' | 'PUT' | 'PATCH',
	path: string,
	options?: RouteOptions,
) => Promise<Answer>

/** A path whose values are encoded. */
export const path = (texts: TemplateStringsArray, ...values: string[]) =>
	String.raw({ raw: texts }, ...values.map(encodeURIComponent))

/**
 * Calls our own routes with the key of the request. Everything that holds for a request over HTTP holds for
 * these: validation, the project's state, rate limits, idempotency and the audit log.
 */
export function routeCalls(app: FastifyInstance, request: FastifyRequest): AskRoute {
	const { authorization, 'user-agent': agent, traceparent } = request.headers
	const headers = {
		authorization,
		// So that the audit log shows changes by assistants.
		'user-agent': `MCP ${agent ?? ''}`.trim(),
		...(typeof traceparent === 'string' && { traceparent }),
	}
	return async <Answer>(
		method: 'GET' | 'POST' | 'PUT' | 'PATCH',
		url: string,
		options: RouteOptions = {},
	) => {
		const { query = {}, body, idempotencyKey, unchangedSince } = options
		const asked: InjectOptions & { payloadAsStream: true } = {
			payloadAsStream: true,
			method,
			url,
			remoteAddress: request.ip,
			query: textsOf(query),
			headers: {
				...headers,
				...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
				...(unchangedSince && { 'if-match': `"${new Date(unchangedSince).toISOString()}"` }),
			},
			...(body && { payload: body }),
		}
		// The body may be large, and it becomes JSON here.
		await takeTurn()
		const answer = await app.inject(asked).catch((cause: Error) => {
			// The process is closing.
			throw Object.assign(overloaded(), { cause })
		})
		const parsed = await readAnswer(answer.stream())
		if (answer.statusCode >= 400)
			throw refusal(answer.statusCode, parsed, answer.headers['retry-after'])
		return parsed as Answer
	}
}

function textsOf(query: NonNullable<RouteOptions['query']>) {
	const given = Object.entries(query).filter(([, value]) => value !== undefined)
	return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

interface Envelope {
	error:
		| string
		| {
				code: ErrorCode
				message: string
				errors?: FieldError[]
				details?: Record<string, unknown>
				suggestion?: string
		  }
}

function refusal(status: number, answer: unknown, retryAfter: unknown) {
	const { error } = answer as Envelope
	if (typeof error === 'string') return new ApiError(status, 'BAD_REQUEST', error)
	const { code, message, ...extras } = error
	const retryAfterSeconds = Number(retryAfter ?? 0)
	return new ApiError(status, code, message, {
		...extras,
		...(retryAfterSeconds > 0 && { retryAfterSeconds }),
	})
}
