import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { findExecution, listExecutions, visitsOf } from '../../db/executions/execution-records.ts'
import { executionStatuses } from '../../db/executions/execution.ts'
import { notFound } from '../errors.ts'
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
/** Each may have kept 64 K characters of an answer. */
const maxOutputBytes = 4 * 2 ** 20

export const executionList: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
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
		async ({ project, params: { id }, query }) => {
			const pageSize = Math.min(query.pageSize, 100)
			const { rows, total } = await listExecutions(
				pool,
				project.id,
				id,
				query,
				pageSize,
				(query.page - 1) * pageSize,
			)
			if (rows.length === 0) await checkWorkflow(project.id, id)
			const totalPages = Math.ceil(total / pageSize)
			return { data: rows, page: query.page, pageSize, total, totalPages }
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
		async ({ project, params: { id, executionId } }) => {
			const [[execution], stepExecutions] = await Promise.all([
				findExecution(pool, [project.id, id, executionId]),
				visitsOf(pool, [project.id, executionId, maxVisits, maxOutputBytes]),
			])
			if (execution) return { ...execution, stepExecutions }
			await checkWorkflow(project.id, id)
			throw notFound('execution', executionId)
		},
	)

	async function checkWorkflow(projectId: string, id: string) {
		const { rows } = await pool.query('select from automations where project_id = $1 and id = $2', [
			projectId,
			id,
		])
		if (rows.length === 0) throw notFound('workflow', id)
	}
}
