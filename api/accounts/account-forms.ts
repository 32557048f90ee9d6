import { Type } from '@fastify/type-provider-typebox'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { tokenDigest } from '../../db/accounts/secret-token.ts'
import { findInvitation } from '../../db/projects/members.ts'
import { pagePolicy, unavailablePage } from '../public/public-pages.tsx'
import { acceptedLanguage } from '../public/public-words.ts'
import { asApiError, handleError } from '../requests/error-handler.ts'
import {
	expiredPage,
	invitationPage,
	joinedPage,
	resetPage,
	verifiedPage,
	verifyPage,
	wasResetPage,
} from './account-pages.tsx'

const form = 'application/x-www-form-urlencoded'
const tags = ['accounts']
const Query = Type.Object({
	token: Type.String({ default: '', description: 'The token from the link in our mail.' }),
})

interface Page {
	summary: string
	description: string
	/** null: the token is invalid. */
	ask(language: string, token: string, isRefused: boolean): Promise<string | null>
	/** `isSecured`: the address was not verified before, and the account's projects changed. */
	done(language: string, isSecured: boolean): string
}

/**
 * Pages behind the links in mails, in front of the routes that do the work. Opening a page changes
 * nothing, because link checkers open it too: only its form acts.
 */
export function serveForms(app: FastifyInstance, pool: Pool) {
	const pages: Record<string, Page> = {
		'/auth/verify-email': {
			summary: 'Show the page that verifies an address',
			description:
				'The page behind the link in our mail. Opening it changes nothing: the button on it does.',
			ask: async (language, token) => verifyPage(language, token),
			done: verifiedPage,
		},
		'/auth/reset-password': {
			summary: 'Show the page that sets a new password',
			description:
				'The page behind the link in our mail. Opening it changes nothing: the form on it does.',
			ask: async (language, token, isRefused) => resetPage(language, token, isRefused),
			done: wasResetPage,
		},
		'/auth/accept-invitation': {
			summary: 'Show the page that accepts an invitation',
			description:
				'The page behind the link in our mail. Opening it changes nothing: the button on it does.',
			async ask(language, token, isRefused) {
				const [invitation] = await findInvitation(pool, { digest: tokenDigest(token) })
				return invitation ? invitationPage(language, token, invitation, isRefused) : null
			},
			done: joinedPage,
		},
	}

	app.addContentTypeParser(form, { parseAs: 'string' }, async (_request: unknown, text: string) =>
		Object.fromEntries(new URLSearchParams(text)),
	)

	for (const [path, { summary, description, ask }] of Object.entries(pages))
		app.get<{ Querystring: { token: string } }>(
			path,
			{
				config: { auth: 'none', answers: 'text/html' },
				schema: { tags, summary, description, querystring: Query },
			},
			async (request, reply) => {
				const language = languageOf(request)
				const page = await ask(language, request.query.token, false)
				return showPage(reply.code(page ? 200 : 400), page ?? expiredPage(language))
			},
		)

	app.setErrorHandler(async (thrown: FastifyError, request, reply) => {
		if (!isForm(request)) return handleError(thrown, request, reply)
		const { status, extras } = asApiError(thrown, request)
		const language = languageOf(request)
		// Of other refusals the link is not the reason.
		if (status !== 400 && status !== 422) {
			if (status >= 500) request.log.error({ err: thrown }, 'request failed')
			if (extras.retryAfterSeconds) reply.header('retry-after', extras.retryAfterSeconds)
			return showPage(reply.code(status), unavailablePage(language))
		}
		const { token } = (request.body ?? {}) as { token?: unknown }
		const page =
			status === 422 && typeof token === 'string'
				? await pages[request.routeOptions.url!]!.ask(language, token, true)
				: null
		return showPage(reply.code(page ? 422 : 400), page ?? expiredPage(language))
	})

	// The routes answer programs with JSON; a form gets a page.
	app.addHook('onSend', async (request, reply, payload) => {
		if (!isForm(request) || reply.statusCode !== 200) return payload
		dress(reply)
		const { securedProjects = 0 } = JSON.parse(payload as string) as { securedProjects?: number }
		return pages[request.routeOptions.url!]!.done(languageOf(request), securedProjects > 0)
	})
}

const isForm = ({ method, headers }: FastifyRequest) =>
	method === 'POST' && headers['content-type']?.startsWith(form) === true

export const languageOf = ({ headers }: FastifyRequest) =>
	acceptedLanguage(headers['accept-language'])

/** The address of the page is a secret, so it is sent to no other site. */
const dress = (reply: FastifyReply) =>
	reply
		.type('text/html; charset=utf-8')
		.header('x-robots-tag', 'noindex, nofollow')
		.header('content-security-policy', pagePolicy)
		.removeHeader('content-length')

export const showPage = (reply: FastifyReply, page: string) => dress(reply).send(page)
