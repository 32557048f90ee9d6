import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { readTracked, type Tracked, trackingKey } from '../../mail/tracked-urls.ts'
import { createEngagementLog } from '../../db/emails/engagement-log.ts'
import type { fetchers } from '../../db/emails/engagement.ts'
import { countByMinute } from '../requests/minute-counts.ts'
import { missingPage, pagePolicy } from '../public/public-pages.tsx'
import { acceptedLanguage } from '../public/public-words.ts'

// A transparent picture of one pixel.
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

const config = { auth: 'none', evenOverloaded: true } as const
const Params = Type.Object({ token: Type.String(), emailId: Type.String() })

/**
 * Of one mail and kind, in this process. The readers of a mailing list, or a filter that follows every link, stay below it.
 * Without it, anyone with one mail could write any number of events.
 */
const mostPerMinute = 200

interface Options {
	pool: Pool
	sessionSecret: string
	/** The longest that a reader waits for the database. */
	patienceMs?: number | undefined
}

/**
 * Our pixel and our redirect. Both answer even while the database is away; engagements are written
 * when it is back. Nothing may cache the answers, so that each open is counted.
 */
export const engagements: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
	const key = trackingKey(options.sessionSecret)
	const { pool, patienceMs } = options
	const log = createEngagementLog({ pool, log: app.log, patienceMs })
	app.addHook('onClose', () => log.close())
	app.addHook('onRequest', async (_request, reply) => {
		reply.header('x-robots-tag', 'noindex, nofollow')
	})

	const counts = countByMinute()

	async function note(request: FastifyRequest, tracked: Tracked) {
		const kind = tracked.link === null ? 'OPEN' : 'CLICK'
		if (counts.add(`${kind} ${tracked.emailId}`) > mostPerMinute) return
		await log.note({ ...tracked, kind, fetcher: fetcherOf(request), at: new Date() })
	}

	app.get(
		'/o/:token/:emailId',
		{ config, schema: { hide: true, params: Params } },
		async (request, reply) => {
			const tracked = readTracked(key, { ...request.params, link: null })
			if (!tracked) return missing(request, reply)
			await note(request, tracked)
			// Webmail shows the image from its own address.
			return reply
				.header('cross-origin-resource-policy', 'cross-origin')
				.type('image/gif')
				.send(pixel)
		},
	)

	app.get(
		'/c/:token/:emailId',
		{
			config,
			schema: {
				hide: true,
				params: Params,
				querystring: Type.Object({ to: Type.Optional(Type.Unknown()) }),
			},
		},
		async (request, reply) => {
			const { to } = request.query
			const tracked =
				typeof to === 'string' ? readTracked(key, { ...request.params, link: to }) : null
			if (!tracked) return missing(request, reply)
			await note(request, tracked)
			// In ASCII, as browsers send it.
			return reply.redirect(new URL(tracked.link!).href, 302)
		},
	)
}

/** Never redirect to an address that was not in the mail. */
const missing = ({ headers }: FastifyRequest, reply: FastifyReply) =>
	reply
		.code(404)
		.type('text/html; charset=utf-8')
		.header('content-security-policy', pagePolicy)
		.send(missingPage(acceptedLanguage(headers['accept-language'])))

/** User agents that are not readers: robots, link checkers, prefetching browsers. */
const machine =
	/bot[/-]|TelegramBot|crawler|spider|BingPreview|facebookexternalhit|SkypeUriPreview|Barracuda|Mimecast|Proofpoint/i
/**
 * They fetch for readers, and on arrival also in advance: Gmail, Yahoo, Apple's Mail Privacy Protection.
 */
const proxy = /GoogleImageProxy|YahooMailProxy|^Mozilla\/5\.0$/

function fetcherOf({ method, headers }: FastifyRequest): (typeof fetchers)[number] {
	const agent = headers['user-agent'] ?? ''
	const purpose = [
		headers['sec-purpose'],
		headers['purpose'],
		headers['x-purpose'],
		headers['x-moz'],
	]
	if (method === 'HEAD' || machine.test(agent)) return 'MACHINE'
	if (purpose.some((said) => /prefetch|preview/i.test(String(said ?? '')))) return 'MACHINE'
	return proxy.test(agent) ? 'PROXY' : 'PERSON'
}
