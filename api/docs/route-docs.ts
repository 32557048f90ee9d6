import type { FastifySchema } from 'fastify'
import Type from 'typebox'
import { errorCodes, fieldCodes, type FieldError } from '../errors.ts'
import type { Auth } from '../requests/auth.ts'
import { Component } from '../schemas.ts'
import { operationIds } from './operation-ids.ts'

declare module 'fastify' {
	interface FastifyContextConfig {
		/** Documented statuses in addition to those of all similar routes. */
		errors?: (keyof typeof errorMeanings)[]
		/** The media type of a success that is not JSON: a page, a file. */
		answers?: string
		/** The media type of a raw body, which no schema checks. */
		takes?: keyof typeof rawBodies
	}
	interface FastifySchema {
		'x-auth'?: Auth
	}
}

export const ErrorResponse = Type.Object(
	{
		success: Type.Literal(false),
		error: Type.Object({
			code: Type.Enum([...errorCodes], { title: 'ErrorCode' }),
			message: Type.String(),
			statusCode: Type.Integer(),
			requestId: Type.String({ format: 'uuid' }),
			errors: Type.Optional(
				Type.Array(
					Component('FieldError', {
						field: Type.String({ description: 'Dots separate the parts of a path' }),
						message: Type.String(),
						code: Type.Enum([...fieldCodes]),
						received: Type.Optional(Type.Unknown()),
						line: Type.Optional(
							Type.Integer({ description: 'Where a template cannot be read, from 1' }),
						),
						column: Type.Optional(Type.Integer({ description: 'The place in its line, from 1' })),
					}),
				),
			),
			details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
			suggestion: Type.Optional(Type.String()),
		}),
		timestamp: Type.String({ format: 'date-time' }),
	},
	{ $id: 'ErrorResponse' },
)

/** Where the interface has it: see `simpleErrors`. */
export const SimpleError = Type.Object({ error: Type.String() }, { $id: 'SimpleError' })

const rawBodies = {
	'message/rfc822': Type.String({
		description: 'The report as it arrived, with its headers',
		examples: ['Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n…'],
	}),
	'application/json': Type.Object(
		{
			type: Type.String({ description: 'What happened.' }),
			data: Type.Unknown({ description: 'The record that it is about.' }),
		},
		{
			examples: [{ type: 'email.delivered', data: {} }],
			description: 'An event as its sender documents it, signed in the headers over its bytes',
		},
	),
}

const errorMeanings = {
	400: 'Bad parameters or malformed body',
	401: 'Missing or invalid key, or a key of the wrong kind',
	403: 'Not authorised, project disabled, or sender domain not verified',
	404: 'The record does not exist, or belongs to another project',
	408: 'The body did not arrive in time',
	409: 'Conflict with the current state, or the Idempotency-Key was used before',
	413: 'Body too large',
	414: 'A part of the path is too long',
	415: 'Content type not supported',
	422: 'Validation failed. `errors` names the fields',
	429: 'Rate limit exceeded. See Retry-After',
	500: 'Unexpected error',
	503: 'Database unreachable or service overloaded. See Retry-After',
} as const

const securityOf: Record<Auth, Record<string, string[]>[]> = {
	'public key': [{ publicKey: [] }],
	'secret key': [{ secretKey: [] }],
	'secret key or session': [{ secretKey: [] }, { session: [] }],
	session: [{ session: [] }],
	signature: [],
	none: [],
}

interface Documented {
	auth?: Auth
	errors?: number[]
	idempotent?: true
	ifMatch?: true
	answers?: string
	takes?: keyof typeof rawBodies
	simpleErrors?: Record<string, FieldError['code'][]>
}

/** Adds what routes need not repeat: the name, the kind of key, and the errors that follow from it. */
export function documented(name: string, schema: FastifySchema, route: Documented): FastifySchema {
	const { auth = 'none', answers, takes } = route
	const operationId = operationIds[name]
	const errors = statusesOf(name, schema, route).map((status) => [
		status,
		errorAnswer(status, route),
	])
	const success = answers && { 200: file(answers) }
	return {
		...(operationId && { operationId }),
		...headersOf(name, route),
		...(takes && { body: rawBodies[takes], consumes: [takes] }),
		...schema,
		...(schema.querystring ? { querystring: asGiven(schema.querystring) } : {}),
		...(schema.body ? { body: asGiven(schema.body) } : {}),
		'x-auth': auth,
		security: securityOf[auth],
		response: { ...Object.fromEntries(errors), ...success, ...described(schema.response ?? {}) },
	}
}

/** A member with a default is optional in the request. */
function asGiven(schema: { properties?: Record<string, object>; required?: string[] }) {
	const { properties = {}, required } = schema
	if (!required) return schema
	return { ...schema, required: required.filter((name) => !('default' in properties[name]!)) }
}

const successMeanings: Record<string, string> = {
	200: 'Success',
	201: 'Created',
	202: 'Queued',
	204: 'Done; the answer is empty',
}

const described = (answers: object) =>
	Object.fromEntries(
		Object.entries(answers).map(([status, answer]) => [
			status,
			{ 'x-response-description': successMeanings[status], ...answer },
		]),
	)

function statusesOf(
	name: string,
	schema: FastifySchema,
	{ auth = 'none', errors = [], idempotent }: Documented,
) {
	const takesKey = auth !== 'none' && auth !== 'signature'
	const statuses = new Set<number>([400, ...errors, 500, 503])
	if (auth !== 'none') statuses.add(401)
	if (takesKey) for (const status of [403, 429]) statuses.add(status)
	if (schema.params) for (const status of [404, 414]) statuses.add(status)
	// Even an unexpected body is checked for size and type, and may arrive too slowly.
	if (!name.startsWith('GET ')) for (const status of [408, 413, 415]) statuses.add(status)
	if (schema.body) statuses.add(422)
	if (idempotent) statuses.add(409)
	return Object.keys(errorMeanings)
		.map(Number)
		.filter((status) => statuses.has(status))
}

/** Routes that answer with pages may also show a page for an error. */
export function errorAnswer(status: number, { answers, simpleErrors }: Documented) {
	const description = errorMeanings[status as keyof typeof errorMeanings]
	const reference = { $ref: 'ErrorResponse#' }
	const schema =
		status === 400 && simpleErrors ? { anyOf: [reference, { $ref: 'SimpleError#' }] } : reference
	if (answers !== 'text/html') return { description, ...schema }
	const { content } = file(answers)
	return { description, content: { 'application/json': { schema }, ...content } }
}

const file = (type: string) => ({
	description: 'Success',
	content: { [type]: { schema: { type: 'string' } } },
})

const optionalText = (description: string, more = {}) =>
	Type.Optional(Type.String({ description, ...more }))

const idempotencyKey = optionalText(
	'Printable ASCII. A second request with the same key within a day is refused with 409.',
	{ minLength: 1, maxLength: 255 },
)
const ifMatch = optionalText(
	'The `updatedAt` of the record that you have read, in quotes. A record that has changed since is refused with 409.',
	{ examples: ['"2026-01-31T09:00:00.000Z"'] },
)
const projectId = optionalText(
	'The project that the request is about. Required with a session, ignored with a key.',
	{ format: 'uuid' },
)
const origin = optionalText(
	'The address of this service. Required with a session for every request that changes something. Browsers send it by themselves.',
	{ format: 'uri' },
)

function headersOf(name: string, { auth, idempotent, ifMatch: takesVersion }: Documented) {
	const headers = {
		...(idempotent && { 'Idempotency-Key': idempotencyKey }),
		...(takesVersion && { 'If-Match': ifMatch }),
		...(auth === 'secret key or session' && { 'X-Project-Id': projectId }),
		...(auth?.includes('session') && !name.startsWith('GET ') && { Origin: origin }),
	}
	return Object.keys(headers).length > 0 ? { headers: Type.Object(headers) } : undefined
}
