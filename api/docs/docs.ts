import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { docsPage } from './docs-page.ts'
import { withComponents } from './components.ts'
import { withHeaders } from './response-headers.ts'
import { apiVersion } from './service-card.ts'
import { documented, ErrorResponse, SimpleError } from './route-docs.ts'
import { tags } from './tags.ts'
import { documentedWebhooks } from './webhook-docs.ts'

/** Collects the routes. Call it before they are added, and before their access rules are required. */
export async function describeApi(app: FastifyInstance, publicUrl: string) {
	app.addSchema(ErrorResponse)
	app.addSchema(SimpleError)
	await app.register(swagger, {
		openapi: {
			openapi: '3.1.0',
			info: {
				title: 'Tempost',
				version: apiVersion,
				description:
					'Email sending and audience management. Every call takes the secret key of a project, except ' +
					'`/v1/track`, which takes the public key. A logged-in user has a session cookie instead, and ' +
					'names the project in `X-Project-Id`. All errors have the same form: `code` is for programs, ' +
					'`message` and `suggestion` are for people.',
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
		transform: ({ schema, url, route: { method, config = {} } }) => ({
			url,
			schema: schema?.hide ? schema : documented(`${String(method)} ${url}`, schema ?? {}, config),
		}),
		transformObject: (document) =>
			'openapiObject' in document
				? withComponents({
						...withHeaders(document.openapiObject),
						webhooks: documentedWebhooks(),
					})
				: document.swaggerObject,
	})
	await app.register(swaggerUi, docsPage)
	app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
