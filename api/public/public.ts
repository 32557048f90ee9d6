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
 * The pages that mails link to, for people without an account, and without scripts. Opening a page
 * changes nothing, because link checkers open it too. They work for disabled projects as well:
 * unsubscribing must always be possible.
 */
export const publicPages: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	// Forms, and every other body that mail programs send for RFC 8058's one click.
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
				summary: 'Show the unsubscribe page',
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
			// An unknown contact gets no mail anyway, so the click succeeds.
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
				summary: 'Show the subscribe page',
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
				summary: 'Show the page of mail preferences',
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
					'Stopping all mail, or allowing it again, requires an `e` that names a mail to this contact.',
				...address,
			},
		},
		async (request, reply) => {
			const choice = choices.find((name) => name === fieldOf(request, 'choice'))
			// An empty choice changes nothing.
			if (!choice) return show(reply, managePage(await view(request)))
			return show(reply, managePage(await act(request, meanings[choice]), choice))
		},
	)
}

const pageOf = (status: number) =>
	status === 429 ? tooOftenPage : status < 500 ? missingPage : unavailablePage

const show = (reply: FastifyReply, page: string) =>
	reply.type('text/html; charset=utf-8').send(page)

/** A body that is not a form has no fields. */
async function formOf(type = '', body: Buffer) {
	return new Response(body, { headers: { 'content-type': type } })
		.formData()
		.catch(() => new FormData())
}

const fieldOf = ({ body }: FastifyRequest, name: string) =>
	body instanceof FormData ? body.get(name) : null
