import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { decideSubscription, publicContact } from '../../db/contacts/subscription.ts'
import { notFound } from '../errors.ts'
import { asApiError } from '../requests/error-handler.ts'
import {
	type Choice,
	choices,
	managePage,
	missingPage,
	pagePolicy,
	subscribedPage,
	subscribePage,
	unavailablePage,
	unsubscribedPage,
	unsubscribePage,
} from './public-pages.tsx'
import { acceptedLanguage } from './public-words.ts'

const tags = ['public pages']
const config = { auth: 'none', answers: 'text/html' } as const
const formBytes = 16 * 1024

/** `e`, the mail that led here, counts if it can be one; whatever else stands there is ignored. */
export const FromMail = Type.Object({
	e: Type.Optional(Type.Unknown({ description: 'The id of the mail whose link led here' })),
})
const Params = Type.Object({ id: Type.String() })
const address = { params: Params, querystring: FromMail }

const isUuid = (text: unknown): text is string =>
	typeof text === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
export const mailOf = ({ e }: { e?: unknown }) => (isUuid(e) ? e : null)

/** What each choice means: subscribed, and whether all mail stops. */
const meanings: Record<Choice, [subscribed: boolean, stopped: boolean]> = {
	all: [true, false],
	necessary: [false, false],
	none: [false, true],
}

/**
 * The pages that mails lead to, for people, without an account or a script. Looking changes nothing,
 * for whatever checks links in mails looks too. They work for disabled projects as well: nobody is to be
 * kept from unsubscribing.
 */
export const publicPages: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	// Forms, and whatever else machines send for RFC 8058's one click: refusing it would help nobody.
	app.removeAllContentTypeParsers()
	app.addContentTypeParser(
		'*',
		{ parseAs: 'buffer', bodyLimit: formBytes },
		async ({ headers }: FastifyRequest, body: Buffer) => formOf(headers['content-type'], body),
	)
	app.addHook('onRequest', async (_request, reply) => {
		reply.header('x-robots-tag', 'noindex, nofollow').header('content-security-policy', pagePolicy)
	})
	app.setErrorHandler((thrown: FastifyError, request, reply) => {
		const { status, extras } = asApiError(thrown, request)
		if (status >= 500) request.log.error({ err: thrown }, 'request failed')
		if (extras.retryAfterSeconds) reply.header('retry-after', extras.retryAfterSeconds)
		const page = status < 500 ? missingPage : unavailablePage
		return show(reply.code(status), page(acceptedLanguage(request.headers['accept-language'])))
	})

	type Visit = { params: { id: string }; query: { e?: unknown } }

	async function view({ params, query }: Visit) {
		const emailId = mailOf(query)
		const [contact] = isUuid(params.id) ? await publicContact(pool, [params.id, emailId]) : []
		if (!contact) throw notFound('contact', params.id)
		return { contact, emailId }
	}

	async function decide({ params, query }: Visit, subscribed: boolean, stops: boolean | null) {
		const emailId = mailOf(query)
		const values = [params.id, subscribed, emailId, stops]
		const [contact] = isUuid(params.id) ? await decideSubscription(pool, values) : []
		if (!contact) throw notFound('contact', params.id)
		app.relay.wake()
		return { contact, emailId }
	}

	app.get(
		'/unsubscribe/:id',
		{ config, schema: { tags, summary: 'Page to unsubscribe on', ...address } },
		async (request, reply) => show(reply, unsubscribePage(await view(request))),
	)

	app.post(
		'/unsubscribe/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Unsubscribe, from the page or by one click (RFC 8058)',
				description: 'A body of `List-Unsubscribe=One-Click` is answered in plain text.',
				...address,
			},
		},
		async (request, reply) => {
			if (fieldOf(request, 'List-Unsubscribe') !== 'One-Click')
				return show(reply, unsubscribedPage(await decide(request, false, null)))
			// Whom nobody knows gets no mail: what the click wants is so.
			await decide(request, false, null).catch((error: { status?: number }) => {
				if (error.status !== 404) throw error
			})
			return reply.type('text/plain; charset=utf-8').send('You are unsubscribed.\n')
		},
	)

	app.get(
		'/subscribe/:id',
		{ config, schema: { tags, summary: 'Page to subscribe on', ...address } },
		async (request, reply) => show(reply, subscribePage(await view(request))),
	)

	app.post(
		'/subscribe/:id',
		{ config, schema: { tags, summary: 'Subscribe, from the page', ...address } },
		async (request, reply) => show(reply, subscribedPage(await decide(request, true, false))),
	)

	app.get(
		'/manage/:id',
		{ config, schema: { tags, summary: 'Page to choose on what mail to get', ...address } },
		async (request, reply) => show(reply, managePage(await view(request))),
	)

	app.post(
		'/manage/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Choose what mail to get, from the page',
				description:
					'Stopping all mail, and taking that back, takes an `e` that is a mail to the contact.',
				...address,
			},
		},
		async (request, reply) => {
			const choice = choices.find((name) => name === fieldOf(request, 'choice'))
			// Nothing chosen is nothing changed.
			if (!choice) return show(reply, managePage(await view(request)))
			return show(reply, managePage(await decide(request, ...meanings[choice]), choice))
		},
	)
}

const show = (reply: FastifyReply, page: string) =>
	reply.type('text/html; charset=utf-8').send(page)

/** What is no form has no fields. */
async function formOf(type = '', body: Buffer) {
	return new Response(body, { headers: { 'content-type': type } })
		.formData()
		.catch(() => new FormData())
}

const fieldOf = ({ body }: FastifyRequest, name: string) =>
	body instanceof FormData ? body.get(name) : null
