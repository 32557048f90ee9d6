import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { languageOf } from '../public/public-pages.tsx'
import { decide, FromMail, viewOf } from '../public/visit.ts'
import { Component, Id, PathId } from '../schemas.ts'

const Decided = Component('PublicContact', {
	id: Id,
	email: Type.String(),
	subscribed: Type.Boolean(),
})

const tags = ['public pages']
const config = { auth: 'none' } as const
const Params = Type.Object({ id: PathId('contact') })

/** The functions of the public pages, for customers who build their own. */
export const publicContacts: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/contacts/public/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Get the public part of a contact',
				description:
					'Needs no key: the id from a link in a mail is enough. Custom data is never included.',
				params: Params,
				response: { 200: Type.Interface([Decided], { language: Type.String() }) },
			},
		},
		async ({ params }) => {
			const { contact } = await viewOf(pool, { params, query: {} })
			return { ...contact, language: languageOf(contact) }
		},
	)

	for (const [act, decision] of [
		['subscribe', { subscribed: true, stops: false }],
		['unsubscribe', { subscribed: false, stops: null }],
	] as const)
		app.post(
			`/contacts/public/:id/${act}`,
			{
				config: { ...config, errors: decision.subscribed ? [429] : [] },
				schema: {
					tags,
					summary: `Let a contact ${act}`,
					description: `Needs no key: the id from a link in a mail is enough. A change creates the event contact.${act}d.`,
					params: Params,
					querystring: FromMail,
					response: { 200: Decided },
				},
			},
			async (request) => {
				const { contact } = await decide(pool, request, decision)
				app.relay.wake()
				return contact
			},
		)
}
