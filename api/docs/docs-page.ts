import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui'

const policy =
	"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// Without it phones show a tiny page with a desktop's width.
const viewport = `document.head.insertAdjacentHTML('beforeend',
	'<meta name="viewport" content="width=device-width, initial-scale=1">')`

/** The page at /docs: the document to read and to try out. */
export const docsPage: FastifySwaggerUiOptions = {
	routePrefix: '/docs',
	staticCSP: policy,
	// A hundred open routes would be too many to read.
	uiConfig: { docExpansion: 'none', defaultModelsExpandDepth: -1, filter: true },
	theme: {
		title: 'Tempost',
		// The bar at the top is for other documents and for Fastify.
		css: [{ filename: 'theme.css', content: '.swagger-ui .topbar { display: none }' }],
		js: [{ filename: 'viewport.js', content: viewport }],
	},
}
