import { NotFoundError } from '@mikro-orm/core'
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { TurnsBusy } from '../../db/fair-turns.ts'
import { isTooSlow } from '../../db/timed-reading.ts'
import { isContended } from '../../db/transaction.ts'
import { ThreadsBusy } from '../../mail/threads/pool.ts'
import { tooSlow } from '../conditions/conditions.ts'
import {
	ApiError,
	envelope,
	type FieldError,
	notFound,
	overloaded,
	tooMuchToRead,
} from '../errors.ts'
import { fieldErrors } from './field-errors.ts'
import { withSuggestion } from './suggestions.ts'
import type { Failure } from './unions.ts'

/** Everything that is thrown becomes an answer here. */
export function handleError(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply) {
	const { suggestions } = request.routeOptions.config
	const error = withSuggestion(asApiError(thrown, request), suggestions)
	if (error.status >= 500) request.log.error({ err: thrown }, 'request failed')
	const simple = simpleMessage(error, request)
	if (simple) return reply.code(400).send({ error: simple })
	if (error.extras.retryAfterSeconds) reply.header('retry-after', error.extras.retryAfterSeconds)
	if (error.status === 401) reply.header('www-authenticate', 'Bearer')
	return reply.code(error.status).send(envelope(error, request.id))
}

export function handleUnknownRoute(request: FastifyRequest, reply: FastifyReply) {
	const path = request.url.split('?', 1)[0]!.slice(0, 200)
	const error = new ApiError(404, 'RESOURCE_NOT_FOUND', `There is no ${request.method} ${path}`, {
		suggestion: 'The routes are listed at /docs.',
	})
	return reply.code(404).send(envelope(error, request.id))
}

/** Input that is not (yet) an HTTP request is answered on the socket, because it has no route. */
export function handleClientError(fault: ConnectionError, socket: Socket) {
	if (fault.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
	const [status, reason] = clientFaults[fault.code] ?? [400, 'Bad Request']
	const requestId = randomUUID()
	const body = JSON.stringify(
		envelope(new ApiError(status, 'BAD_REQUEST', `${reason}: this is no valid request`), requestId),
	)
	socket.end(
		`HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\n` +
			`Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n` +
			`Connection: close\r\n\r\n${body}`,
	)
	// Gives the client time to read the answer; then the connection is closed.
	setTimeout(() => socket.destroy(), 5000).unref()
}

const clientFaults: Record<string, [number, string]> = {
	HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
	ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
}

/**
 * The few answers of the form `{ error }`. Routes list them in `config.simpleErrors`, by field in the
 * order of reporting, with their codes.
 */
function simpleMessage(error: ApiError, request: FastifyRequest) {
	const simple = request.routeOptions.config.simpleErrors
	if (!simple || error.status !== 422) return undefined
	for (const [field, codes] of Object.entries(simple)) {
		const found = error.extras.errors?.find((e) => e.field === field && codes.includes(e.code))
		if (found) return `${found.field} ${found.message}`
	}
	return undefined
}

declare module 'fastify' {
	interface FastifyContextConfig {
		/** Fields whose faults are answered with 400 `{ error }`, as in the specification. */
		simpleErrors?: Record<string, FieldError['code'][]>
	}
}

/** Translates anything thrown for the caller. */
export function asApiError(thrown: FastifyError, request: FastifyRequest): ApiError {
	if (thrown instanceof ApiError) return thrown
	// Ajv is configured as verbose, so it returns more than Fastify's type declares.
	if (thrown.validation)
		return schemaFailure(thrown.validation as Failure[], thrown.validationContext, request)
	if (thrown instanceof ThreadsBusy) return overloaded()
	if (thrown instanceof TurnsBusy) return turnsBusy(thrown)
	if (thrown instanceof NotFoundError) return notFound('record', undefined)
	return databaseFault(thrown) ?? frameworkFault(thrown, request) ?? unexpected(thrown)
}

function schemaFailure(
	failures: Failure[],
	part: FastifyError['validationContext'],
	request: FastifyRequest,
) {
	const errors = fieldErrors(failures)
	const [first] = errors
	const message = `${first?.field ?? ''} ${first?.message ?? 'is invalid'}`.trim()
	const summary = errors.length > 1 ? `${message} (and ${errors.length - 1} more)` : message
	if (part === 'params') {
		const resource = resourceOf(failures)
		const id = (request.params as Record<string, unknown>)[first?.field ?? '']
		if (resource) return notFound(resource, id)
	}
	if (part === 'querystring' || part === 'headers')
		return new ApiError(400, 'BAD_REQUEST', summary, { errors })
	return new ApiError(422, 'VALIDATION_ERROR', summary, {
		errors,
		suggestion: 'Correct the fields named in errors and send the request again.',
	})
}

/** If a path id is not a UUID and its schema names the resource, the record doesn't exist. */
function resourceOf(failures: Failure[]) {
	for (const failure of failures) {
		const resource = failure.parentSchema?.['x-resource']
		if (resource !== undefined) return resource
	}
	return undefined
}

const networkCodes = new Set([
	'ECONNREFUSED',
	'ECONNRESET',
	'ETIMEDOUT',
	'EPIPE',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EHOSTUNREACH',
])
// Connection exceptions, exhausted resources and operator intervention (shutdown, crash, starting up): nothing was
// done, and the same request may succeed soon.
const transientStates = /^(08|53|57P0[1-3])/
const lostConnection =
	/^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/

/** Whether the database is unavailable or too busy, so that the same request may succeed later. */
function isDatabaseAway(thrown: { code?: string; message?: string; syscall?: string }) {
	const { code = '', message = '', syscall = '' } = thrown
	// A resolver's "queryMx ENOTFOUND" concerns a customer's domain.
	if (networkCodes.has(code)) return !syscall.startsWith('query')
	return transientStates.test(code) || lostConnection.test(message)
}

function databaseFault(thrown: FastifyError) {
	if (isDatabaseAway(thrown))
		return new ApiError(503, 'DATABASE_ERROR', 'The database cannot be reached at the moment', {
			retryAfterSeconds: 2,
			suggestion: 'Nothing was changed unless a response was lost. Try again in a few seconds.',
		})
	if (isContended(thrown))
		return new ApiError(503, 'DATABASE_ERROR', 'Another change holds this record at the moment', {
			retryAfterSeconds: 2,
			suggestion: 'Nothing was changed. Try again in a few seconds.',
		})
	if (isTooSlow(thrown)) return tooSlow()
	if (thrown.code === '23505')
		return new ApiError(409, 'CONFLICT', 'This would duplicate a record that must be unique')
	return undefined
}

const turnsBusy = ({ isOwn }: TurnsBusy) =>
	isOwn
		? tooMuchToRead(
				'Other searches and counts of this project are under way',
				'Nothing was done. Wait for their answers, and send the request again.',
			)
		: tooMuchToRead(
				'Too many searches and counts are under way',
				'Nothing was done. Try again in a few seconds.',
			)

/** Refusals by Fastify itself. */
function frameworkFault({ statusCode, code, message }: FastifyError, request: FastifyRequest) {
	if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
		return new ApiError(
			400,
			'VALIDATION_ERROR',
			'The length of the body differs from Content-Length',
			{
				suggestion: 'Leave Content-Length to your HTTP client; it counts bytes, not characters.',
			},
		)
	if (statusCode === 415)
		return new ApiError(415, 'BAD_REQUEST', 'This content type is not supported here', {
			suggestion: `Send the body with Content-Type: ${typeOf(request)}.`,
		})
	if (statusCode === 413)
		return new ApiError(413, 'BAD_REQUEST', 'The request body is too large', {
			details: { maxBytes: request.routeOptions.bodyLimit },
			suggestion: 'Send less at a time.',
		})
	// Their own messages contain the URL.
	if (code === 'FST_ERR_BAD_URL')
		return new ApiError(400, 'BAD_REQUEST', 'The URL is not properly encoded')
	if (statusCode === 414) return new ApiError(414, 'BAD_REQUEST', 'A part of the URL is too long')
	if (statusCode && statusCode >= 400 && statusCode < 500)
		return new ApiError(statusCode, 'BAD_REQUEST', message)
	return undefined
}

const typeOf = ({ routeOptions }: FastifyRequest) =>
	routeOptions.config.takes ?? routeOptions.schema?.consumes?.[0] ?? 'application/json'

const unexpected = (cause: Error) =>
	new ApiError(500, 'INTERNAL_SERVER_ERROR', 'Something went wrong on our side', {
		cause,
		suggestion: 'Try again. If the error persists, report the requestId.',
	})
