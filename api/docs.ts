import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema } from 'fastify'
import Type from 'typebox'
import type { Auth } from './auth.ts'
import { docsPage } from './docs-page.ts'
import { fieldCodes } from './errors.ts'
import { tags } from './tags.ts'

declare module 'fastify' {
	interface FastifyContextConfig {
		/** Statuses, beside those that all routes of its kind have, that the document is to name. */
		errors?: (keyof typeof errorMeanings)[]
	}
	interface FastifySchema {
		'x-auth'?: Auth
	}
}

const ErrorResponse = Type.Object(
	{
		success: Type.Literal(false),
		error: Type.Object({
			code: Type.String(),
			message: Type.String(),
			statusCode: Type.Integer(),
			requestId: Type.String({ format: 'uuid' }),
			errors: Type.Optional(
				Type.Array(
					Type.Object({
						field: Type.String({ description: 'Dots lead into objects and arrays' }),
						message: Type.String(),
						code: Type.Enum([...fieldCodes]),
						received: Type.Optional(Type.Unknown()),
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

const errorMeanings = {
	400: 'Bad parameters or malformed body',
	401: 'Missing or invalid key, or a key of the wrong kind',
	403: 'Not authorised, project disabled, or sender domain not verified',
	404: 'There is no such record',
	409: 'Conflict with the present state, or Idempotency-Key used before',
	413: 'Body too large',
	422: 'Validation failed: errors names the fields',
	429: 'Rate limit exceeded: see Retry-After',
	500: 'Unexpected error',
	503: 'Database away or service overloaded: see Retry-After',
} as const

const securityOf: Record<Auth, Record<string, string[]>[]> = {
	'public key': [{ publicKey: [] }],
	'secret key': [{ secretKey: [] }],
	'secret key or session': [{ secretKey: [] }, { session: [] }],
	session: [{ session: [] }],
	signature: [],
	none: [],
}

/** Collects the routes; to be called before any of them, and before routes must say who may call them. */
export async function describeApi(app: FastifyInstance, publicUrl: string) {
	app.addSchema(ErrorResponse)
	await app.register(swagger, {
		openapi: {
			openapi: '3.1.0',
			info: {
				title: 'Tempost',
				version: '1.0.0',
				description: 'Email sending and audience management.',
			},
			servers: [{ url: publicUrl }],
			tags,
			components: {
				securitySchemes: {
					publicKey: { type: 'http', scheme: 'bearer', description: 'pk_…, only for /v1/track' },
					secretKey: { type: 'http', scheme: 'bearer', description: 'sk_…' },
					session: { type: 'apiKey', in: 'cookie', name: 'session' },
				},
			},
		},
		refResolver: { buildLocalReference: (json) => json.$id as string },
		transform: ({ schema, url, route }) => ({
			url,
			schema: documented(schema ?? {}, route.config ?? {}),
		}),
	})
	await app.register(swaggerUi, docsPage)
	app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}

/** What the route itself need not repeat: its kind of key, and the errors that follow from it. */
function documented(
	schema: FastifySchema,
	{ auth = 'none', errors = [], idempotent }: { auth?: Auth; errors?: number[]; idempotent?: true },
): FastifySchema {
	const statuses = new Set<number>(errors)
	if (auth !== 'none') statuses.add(401)
	if (auth !== 'none' && auth !== 'signature') for (const status of [403, 429]) statuses.add(status)
	if (schema.params) statuses.add(404)
	if (schema.querystring) statuses.add(400)
	if (schema.body) for (const status of [400, 413, 422]) statuses.add(status)
	if (idempotent) statuses.add(409)
	for (const status of [500, 503]) statuses.add(status)
	const responses = Object.fromEntries(
		Object.entries(errorMeanings)
			.filter(([status]) => statuses.has(Number(status)))
			.map(([status, description]) => [status, { description, $ref: 'ErrorResponse#' }]),
	)
	const headers = idempotent && {
		headers: Type.Object({
			'Idempotency-Key': Type.Optional(
				Type.String({
					minLength: 1,
					maxLength: 255,
					description: 'Printable ASCII. A second request with it within a day is a 409',
				}),
			),
		}),
	}
	return {
		...headers,
		...schema,
		'x-auth': auth,
		security: securityOf[auth],
		response: { ...responses, ...(schema.response as object) },
	}
}
