import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asksForHtml } from '../docs/service-card.ts'
import { mailPolicy, pagePolicy } from './console-policies.ts'

/** Where `npm run build` puts the console. */
const builtFolder = fileURLToPath(new URL('../../console', import.meta.url))

export interface ConsoleOptions {
	/** The folder with the built console. */
	folder?: string | undefined
	/** The answer at `/` for those who do not want a page. */
	card: () => object
}

/** The web console: one page for every address below /console, and its files. */
export async function consolePages(
	app: FastifyInstance,
	{ folder = builtFolder, card }: ConsoleOptions,
) {
	const pages = readPages(folder)
	const hidden = {
		schema: { hide: true },
		config: { auth: 'none' },
		exposeHeadRoute: false,
	} as const

	const sendConsole = (_request: FastifyRequest, reply: FastifyReply) => {
		const nonce = randomBytes(16).toString('base64')
		return reply
			.headers({ 'content-security-policy': pagePolicy(nonce), 'cache-control': 'no-store' })
			.type('text/html; charset=utf-8')
			.send(pages.console.replace('%NONCE%', nonce))
	}

	app.get('/', hidden, (request, reply) => {
		void reply.header('vary', 'Accept')
		return asksForHtml(request.headers.accept) ? sendConsole(request, reply) : reply.send(card())
	})
	app.get('/console', hidden, sendConsole)
	app.get('/console/*', hidden, sendConsole)
	app.get<{ Querystring: { images?: string } }>('/console/mail-frame', hidden, (request, reply) =>
		reply
			.headers({
				'content-security-policy': mailPolicy(originOf(request), request.query.images === 'on'),
				'cache-control': 'no-store',
				// A browser looks up the hosts of links in advance, which tells that the mail was read.
				'x-dns-prefetch-control': 'off',
			})
			.type('text/html; charset=utf-8')
			.send(pages.mailFrame),
	)

	if (!pages.isBuilt) return
	await app.register(fastifyStatic, {
		root: join(folder, 'assets'),
		serve: false,
		preCompressed: true,
		// Their names change with their content.
		immutable: true,
		maxAge: '365d',
	})
	app.get<{ Params: { '*': string } }>('/console/assets/*', hidden, (request, reply) =>
		reply
			// The frame of a mail has an opaque origin.
			.header('access-control-allow-origin', '*')
			.sendFile(request.params['*']),
	)
	app.get('/console/icon.svg', hidden, (_request, reply) =>
		reply.header('cache-control', 'public, max-age=86400').type('image/svg+xml').send(pages.icon),
	)
}

function readPages(folder: string) {
	const read = (name: string) => readFileSync(join(folder, name), 'utf8')
	return existsSync(join(folder, 'assets'))
		? {
				isBuilt: true,
				console: read('index.html'),
				mailFrame: read('mail-frame.html'),
				icon: read('icon.svg'),
			}
		: { isBuilt: false, console: notBuilt, mailFrame: notBuilt, icon: '' }
}

const notBuilt =
	'<!doctype html><title>Tempost</title><p>The console is not built. Run <code>npm run build</code>.'

/** A mail's frame has no origin of its own, so `'self'` would not name us there. */
const originOf = ({ protocol, host }: FastifyRequest) =>
	/^[\w.:[\]-]+$/.test(host) ? `${protocol}://${host}` : ''
