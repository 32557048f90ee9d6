import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { asApiError } from '../requests/error-handler.ts'
import {
	type Choice,
	choices,
	managePage,
	missingPage,
	pagePolicy,
	subscribedPage,
	subscribePage,
	tooOftenPage,
	unavailablePage,
	unsubscribedPage,
	unsubscribePage,
} from './public-pages.tsx'
import { acceptedLanguage } from './public-words.ts'
import { decide, type Decision, FromMail, type Visit, viewOf } from './visit.ts'

const tags = ['public pages']
const config = { auth: 'none', answers: 'text/html' } as const
const limited = { ...config, errors: [429 as const] }
const bodyLimit = 16 * 1024

const Params = Type.Object({ id: Type.String({ description: 'The id of the contact.' }) })
const address = { params: Params, querystring: FromMail }

const meanings: Record<Choice, Decision> = {
	all: { subscribed: true, stops: false },
	necessary: { subscribed: false, stops: false },
	none: { subscribed: false, stops: true },
}
const leaving = { subscribed: false, stops: null }

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
		{ parseAs: 'buffer' },
		async ({ headers }: FastifyRequest, body: Buffer) => formOf(headers['content-type'], body),
	)
	app.addHook('onRequest', async (_request, reply) => {
		reply.header('x-robots-tag', 'noindex, nofollow').header('content-security-policy', pagePolicy)
	})
	app.setErrorHandler((thrown: FastifyError, request, reply) => {
		const { status, extras } = asApiError(thrown, request)
		if (status >= 500) request.log.error({ err: thrown }, 'request failed')
		if (extras.retryAfterSeconds) reply.header('retry-after', extras.retryAfterSeconds)
		const language = acceptedLanguage(request.headers['accept-language'])
		return show(reply.code(status), pageOf(status)(language))
	})

	const view = (visit: Visit) => viewOf(pool, visit)

	async function act(visit: Visit, decision: Decision) {
		const view = await decide(pool, visit, decision)
		app.relay.wake()
		return view
	}

	app.get(
		'/unsubscribe/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Page to unsubscribe on',
				description:
					'The page behind the link in a mail. Opening it changes nothing: the button on it does.',
				...address,
			},
		},
		async (request, reply) => show(reply, unsubscribePage(await view(request))),
	)

	app.post(
		'/unsubscribe/:id',
		{
			bodyLimit,
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
				return show(reply, unsubscribedPage(await act(request, leaving)))
			// Whom nobody knows gets no mail: what the click wants is so.
			await act(request, leaving).catch((error: { status?: number }) => {
				if (error.status !== 404) throw error
			})
			return reply.type('text/plain; charset=utf-8').send('You are unsubscribed.\n')
		},
	)

	app.get(
		'/subscribe/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Page to subscribe on',
				description:
					'The page behind the link in a mail. Opening it changes nothing: the button on it does.',
				...address,
			},
		},
		async (request, reply) => show(reply, subscribePage(await view(request))),
	)

	app.post(
		'/subscribe/:id',
		{
			bodyLimit,
			config: limited,
			schema: {
				tags,
				summary: 'Subscribe, from the page',
				description: 'The form of the page. Programs use POST /contacts/public/{id}/subscribe.',
				...address,
			},
		},
		async (request, reply) => show(reply, subscribedPage(await act(request, meanings.all))),
	)

	app.get(
		'/manage/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Page to choose on what mail to get',
				description:
					'The page behind the link in a mail. It shows whether the contact has subscribed.',
				...address,
			},
		},
		async (request, reply) => show(reply, managePage(await view(request))),
	)

	app.post(
		'/manage/:id',
		{
			bodyLimit,
			config: limited,
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
			return show(reply, managePage(await act(request, meanings[choice]), choice))
		},
	)
}

const pageOf = (status: number) =>
	status === 429 ? tooOftenPage : status < 500 ? missingPage : unavailablePage

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
