import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { decideSubscription, publicContact } from '../../db/contacts/subscription.ts'
import { notFound } from '../errors.ts'
import { languageOf } from '../public/public-pages.tsx'
import { FromMail, mailOf } from '../public/public.ts'
import { Id, PathId } from '../schemas.ts'

const Decided = Type.Object({ id: Id, email: Type.String(), subscribed: Type.Boolean() })

const tags = ['public pages']
const config = { auth: 'none' } as const
const Params = Type.Object({ id: PathId('contact') })

/** The same as the public pages, for those who build their own. */
export const publicContacts: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/contacts/public/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Get what a contact may see of itself',
				params: Params,
				response: { 200: Type.Interface([Decided], { language: Type.String() }) },
			},
		},
		async ({ params }) => {
			const [contact] = await publicContact(pool, [params.id, null])
			if (!contact) throw notFound('contact', params.id)
			return { ...contact, language: languageOf(contact) }
		},
	)

	for (const [act, subscribed, stops] of [
		['subscribe', true, false],
		['unsubscribe', false, null],
	] as const)
		app.post(
			`/contacts/public/:id/${act}`,
			{
				config,
				schema: {
					tags,
					summary: `Let a contact ${act}`,
					params: Params,
					querystring: FromMail,
					response: { 200: Decided },
				},
			},
			async ({ params, query }) => {
				const [contact] = await decideSubscription(pool, [
					params.id,
					subscribed,
					mailOf(query),
					stops,
				])
				if (!contact) throw notFound('contact', params.id)
				app.relay.wake()
				return contact
			},
		)
}
