import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { spendToken } from '../../db/accounts/account-token.ts'
import { tokenDigest } from '../../db/accounts/secret-token.ts'
import { openSession } from '../../db/accounts/session.ts'
import { transaction } from '../../db/transaction.ts'
import { errorAnswer } from '../docs/route-docs.ts'
import { isFromThisMachine } from '../requests/loopback.ts'
import { languageOf, showPage } from './account-forms.ts'
import { expiredLoginPage } from './account-pages.tsx'
import { type SessionCookie, sessionSeconds } from './cookies.ts'

interface Options {
	pool: Pool
	cookie: SessionCookie
}

/**
 * The link that `npm start` prints. From anywhere else the route does not exist, so a token that leaks is
 * worthless outside this machine.
 */
export const localLogin: FastifyPluginAsyncTypebox<Options> = async (app, { pool, cookie }) => {
	app.addHook('onRequest', (request, reply, done) => {
		if (isFromThisMachine(request)) done()
		else reply.callNotFound()
	})

	app.get(
		'/auth/local',
		{
			// A HEAD would spend the token.
			exposeHeadRoute: false,
			config: { auth: 'none' },
			schema: {
				tags: ['accounts'],
				summary: 'Log in with the link that npm start prints',
				description:
					'Sets the session cookie of the owner and redirects to `/`. The link works once, for a day, and only on the machine that Tempost runs on. A link that was used shows a page that says so.',
				querystring: Type.Object({
					token: Type.String({ default: '', description: 'The token from the link.' }),
				}),
				response: {
					303: Type.Null({ description: 'Redirects to /' }),
					400: errorAnswer(400, { answers: 'text/html' }),
				},
			},
		},
		async (request, reply) => {
			const session = await sessionOf(request.query.token)
			if (session === null) return showExpired(request, reply)
			return reply.header('set-cookie', cookie.issue(session)).redirect('/', 303)
		},
	)

	const sessionOf = (token: string) =>
		transaction(pool, async (db) => {
			const digest = tokenDigest(token)
			const [spent] = await spendToken(db, { digest, purpose: 'LOG_IN' })
			return spent ? openSession(db, { userId: spent.userId, seconds: sessionSeconds }) : null
		})
}

const showExpired = (request: FastifyRequest, reply: FastifyReply) =>
	showPage(reply.code(400), expiredLoginPage(languageOf(request)))
