import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { fieldTypes } from '../../db/contacts/contact-field.ts'
import { commonestEventFields, eventFields } from '../../db/events/event-fields.ts'
import { fieldsOfContacts } from '../contacts/contact-fields.ts'
import { readEventCounts } from '../events/event-counts.ts'

export const automationFields: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.get(
		'/workflows/fields',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags: ['workflows'],
				summary: 'List the fields that a CONDITION step can compare',
				description:
					'The fields of contacts and of the latest events with this name. Without a name, the latest events with the most frequent names are used. Each field has its most frequent type.',
				querystring: Type.Object({
					eventName: Type.Optional(
						Type.String({
							description: 'Returns only the fields of this event and of contacts.',
						}),
					),
				}),
				response: {
					200: Type.Object({
						fields: Type.Array(Type.String()),
						typedFields: Type.Array(
							Type.Object({
								field: Type.String(),
								type: Type.Enum([...fieldTypes]),
								category: Type.Enum(['contact', 'event']),
							}),
						),
						count: Type.Integer(),
					}),
				},
			},
		},
		async ({ project, query }) => {
			const eventName = query.eventName?.trim()
			const [ofContacts, ofEvents] = await Promise.all([
				fieldsOfContacts(pool, project.id),
				eventName
					? eventFields(pool, { projectId: project.id, eventName })
					: readEventCounts(pool, project.id, (db) =>
							commonestEventFields(db, { projectId: project.id }),
						),
			])
			const typed = (category: 'contact' | 'event', fields: typeof ofEvents) =>
				fields.map(({ field, type }) => ({ field: `${category}.${field}`, type, category }))
			const typedFields = [...typed('contact', ofContacts), ...typed('event', ofEvents)]
			const fields = typedFields.map(({ field }) => field)
			return { fields, typedFields, count: fields.length }
		},
	)
}
