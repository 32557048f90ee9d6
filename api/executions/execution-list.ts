import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	executionsOfPage,
	findExecution,
	listExecutions,
	visitsOf,
} from '../../db/executions/execution-records.ts'
import { executionStatuses } from '../../db/executions/execution.ts'
import { foundAutomation } from '../automations/automation-editing.ts'
import { notFound } from '../errors.ts'
import type { SendPage } from '../requests/large-pages.ts'
import { about, Id, page } from '../schemas.ts'
import {
	DetailedExecution,
	ExecutionParams,
	ListedExecution,
	WorkflowParams,
} from './execution-views.ts'

const tags = ['workflows']
const auth = 'secret key or session'
const maxVisits = 1000
/** Each may have stored 64 K characters of a response. */
const maxOutputBytes = 4 * 2 ** 20

interface Options {
	pool: Pool
	sendPage: SendPage
}

export const executionList: FastifyPluginAsyncTypebox<Options> = async (
	app,
	{ pool, sendPage },
) => {
	app.get(
		'/workflows/:id/executions',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'List the executions of a workflow, newest first',
				description:
					'Each with its contact and the step it is at. Executions that have ended are included.',
				params: WorkflowParams,
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
					contactId: Type.Optional(about('Only executions of this contact.', Id)),
					stepId: Type.Optional(
						about(
							'Only executions that are at this step now. With the status FAILED or CANCELLED, those that ended at it.',
							Id,
						),
					),
				}),
				response: { 200: page(ListedExecution) },
			},
		},
		async ({ em, project, params: { id }, query }, reply) => {
			const pageSize = Math.min(query.pageSize, 100)
			const { listed, total } = await listExecutions(
				pool,
				project.id,
				id,
				query,
				pageSize,
				(query.page - 1) * pageSize,
			)
			if (listed.length === 0)
				await foundAutomation(em, { projectId: project.id, automationId: id })
			const totalPages = Math.ceil(total / pageSize)
			return sendPage(reply, {
				listed,
				read: (ids) => executionsOfPage(pool, { projectId: project.id, executionIds: ids }),
				answer: (data) => ({ data, page: query.page, pageSize, total, totalPages }),
			})
		},
	)

	app.get(
		'/workflows/:id/executions/:executionId',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Get an execution with the steps it has been at',
				description: 'A step appears once for every visit, with its output or its error.',
				params: ExecutionParams,
				response: { 200: DetailedExecution },
			},
		},
		async ({ em, project, params: { id, executionId } }) => {
			const [[execution], stepExecutions] = await Promise.all([
				findExecution(pool, { projectId: project.id, automationId: id, executionId }),
				visitsOf(pool, {
					projectId: project.id,
					executionId,
					limit: maxVisits,
					mostBytes: maxOutputBytes,
				}),
			])
			if (execution) return { ...execution, stepExecutions }
			await foundAutomation(em, { projectId: project.id, automationId: id })
			throw notFound('execution', executionId)
		},
	)
}
