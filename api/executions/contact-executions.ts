import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { findContact } from '../../db/contacts/contact-list.ts'
import {
	countExecutionsOfContact,
	executionsOfContact,
	executionsOfPage,
} from '../../db/executions/execution-records.ts'
import { executionStatuses } from '../../db/executions/execution.ts'
import { notFound } from '../errors.ts'
import type { SendPage } from '../requests/large-pages.ts'
import { about, Extended, page, PathId, Reference } from '../schemas.ts'
import { ListedExecution } from './execution-views.ts'

const ContactExecution = Extended('ContactExecution', [ListedExecution], { workflow: Reference })

interface Options {
	pool: Pool
	sendPage: SendPage
}

export const contactExecutions: FastifyPluginAsyncTypebox<Options> = async (
	app,
	{ pool, sendPage },
) => {
	app.get(
		'/contacts/:id/executions',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags: ['workflows'],
				summary: 'List the executions of a contact, newest first',
				description:
					'Of all workflows, each with the step it is at. Executions that have ended are included.',
				params: Type.Object({ id: PathId('contact') }),
				querystring: Type.Object({
					page: Type.Integer({
						minimum: 1,
						maximum: 2 ** 24,
						default: 1,
						description: 'The page to return. The first is 1.',
					}),
					pageSize: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
					status: Type.Optional(
						about('Only executions with this status.', Type.Enum([...executionStatuses])),
					),
				}),
				response: { 200: page(ContactExecution) },
			},
		},
		async ({ project, params: { id }, query }, reply) => {
			const pageSize = Math.min(query.pageSize, 100)
			const which = { projectId: project.id, contactId: id }
			const filter = { ...which, status: query.status ?? null }
			const [listed, [counted]] = await Promise.all([
				executionsOfContact(pool, {
					...filter,
					limit: pageSize,
					offset: (query.page - 1) * pageSize,
				}),
				countExecutionsOfContact(pool, filter),
			])
			if (listed.length === 0 && (await findContact(pool, which)).length === 0)
				throw notFound('contact', id)
			const { total } = counted!
			const totalPages = Math.ceil(total / pageSize)
			return sendPage(reply, {
				listed,
				read: (ids) => executionsOfPage(pool, { projectId: project.id, executionIds: ids }),
				answer: (data) => ({ data, page: query.page, pageSize, total, totalPages }),
			})
		},
	)
}
