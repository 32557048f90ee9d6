import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui'

const policy =
	"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// Without it phones draw the page as wide as a desk's, and tiny.
const viewport = `document.head.insertAdjacentHTML('beforeend',
	'<meta name="viewport" content="width=device-width, initial-scale=1">')`

/** The page at /docs: the document to read and to try out. */
export const docsPage: FastifySwaggerUiOptions = {
	routePrefix: '/docs',
	staticCSP: policy,
	// A hundred routes at once are too many to read.
	uiConfig: { docExpansion: 'none', defaultModelsExpandDepth: -1, filter: true },
	theme: {
		title: 'Tempost',
		// The bar on top is about other documents, and about Fastify.
		css: [{ filename: 'theme.css', content: '.swagger-ui .topbar { display: none }' }],
		js: [{ filename: 'viewport.js', content: viewport }],
	},
}
