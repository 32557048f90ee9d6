import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { dataProblems } from '../../activities/rendering/contact-data.ts'
import {
	beginExecutions,
	lockContacts,
	retryExecution,
} from '../../db/executions/execution-beginning.ts'
import { cancelExecutions, cancelOne } from '../../db/executions/execution-cancelling.ts'
import { findExecution } from '../../db/executions/execution-records.ts'
import { transaction } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { about, Body, Id } from '../schemas.ts'
import { Execution, ExecutionParams, WorkflowParams } from './execution-views.ts'

const tags = ['workflows']
const auth = 'secret key or session'

/** What is done to executions; api/executions/execution-list.ts shows them. */
export const executions: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/workflows/:id/executions',
		{
			config: { auth, errors: [400, 404, 409] },
			schema: {
				tags,
				summary: 'Start a workflow for a contact',
				description:
					'Works with every type of trigger, but only while the workflow is enabled. Refused with 409 if the contact may not enter again.',
				params: WorkflowParams,
				body: Body(
					{ contactId: '0199d3f4-7e00-7000-8000-000000000001', context: { coupon: 'SPRING' } },
					{
						contactId: about('The contact that enters.', Id),
						context: Type.Optional(
							Type.Record(Type.String(), Type.Unknown(), {
								description:
									'Variables of this execution; they come before the data of the contact',
							}),
						),
					},
				),
				response: { 201: Execution },
			},
		},
		async ({ project, params, body: { contactId, context = {} } }, reply) => {
			const problems = dataProblems(context, 'context')
			if (problems.length > 0) throw invalid(...problems)
			const { isEnabled } = await workflow(project.id, params.id)
			const begun = await transaction(pool, async (db) => {
				const [contact] = await lockContacts(db, [project.id, [contactId]])
				if (!contact) throw notFound('contact', contactId)
				if (!isEnabled) throw notEnabled()
				const who = [params.id, [contactId], JSON.stringify(context), null, taskQueues.core]
				const [begun] = await beginExecutions(db, [project.id, ...who])
				return begun
			})
			if (!begun) throw await refusal(project.id, params.id, contactId)
			app.relay.wake()
			return reply.code(201).send(await execution(project.id, params.id, begun.id))
		},
	)

	app.delete(
		'/workflows/:id/executions/:executionId',
		{
			config: { auth, errors: [409] },
			schema: {
				tags,
				summary: 'Cancel an execution',
				description:
					'A step that is under way may still take effect, but no other follows. An execution that has ended is refused with 409.',
				params: ExecutionParams,
				response: { 200: Execution },
			},
		},
		async ({ project, params: { id, executionId } }) => {
			const values = [project.id, executionId, id, 'Cancelled by request', true]
			const [cancelled] = await cancelOne(pool, values)
			const found = await execution(project.id, id, executionId)
			if (!cancelled) throw wrongState(found.status, 'Only an active one can be cancelled.')
			app.relay.wake()
			return found
		},
	)

	app.post(
		'/workflows/:id/executions/cancel-all',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Cancel every active execution of a workflow',
				description:
					'The answer counts the executions that were active. The workflow stays enabled, so new ones can start.',
				params: WorkflowParams,
				response: { 200: Type.Object({ cancelled: Type.Integer() }) },
			},
		},
		async ({ project, params: { id } }) => {
			await workflow(project.id, id)
			const reason = 'All were cancelled by request'
			const cancelled = await cancelExecutions(pool, project.id, id, reason, taskQueues.core)
			app.relay.wake()
			return { cancelled }
		},
	)

	app.post(
		'/workflows/:id/executions/:executionId/retry',
		{
			config: { auth, errors: [409] },
			schema: {
				tags,
				summary: 'Retry the step that failed',
				description:
					'It keeps its version and its context. Only a failed execution can be retried.',
				params: ExecutionParams,
				response: { 200: Execution },
			},
		},
		async ({ project, params: { id, executionId } }) => {
			const values = [project.id, id, executionId, taskQueues.core]
			const [retried] = await retryExecution(pool, values).catch((error: { code?: string }) => {
				if (error.code === '23505') throw alreadyActive()
				throw error
			})
			const found = await execution(project.id, id, executionId)
			if (!retried && found.contactId === null) throw withoutContact(found.status)
			if (!retried) throw wrongState(found.status, 'Only a failed one can be tried again.')
			app.relay.wake()
			return found
		},
	)

	async function workflow(projectId: string, id: string) {
		const { rows } = await pool.query<{ isEnabled: boolean }>(
			'select enabled as "isEnabled" from automations where project_id = $1 and id = $2',
			[projectId, id],
		)
		if (!rows[0]) throw notFound('workflow', id)
		return rows[0]
	}

	async function execution(projectId: string, workflowId: string, id: string) {
		const [found] = await findExecution(pool, [projectId, workflowId, id])
		if (found) return found
		await workflow(projectId, workflowId)
		throw notFound('execution', id)
	}

	/** Why none has begun: somebody disabled or deleted the workflow meanwhile, or there is one. */
	async function refusal(projectId: string, id: string, contactId: string) {
		const { isEnabled } = await workflow(projectId, id)
		if (!isEnabled) return notEnabled()
		return new ApiError(409, 'CONFLICT', 'This contact cannot enter the workflow again', {
			details: { contactId },
			suggestion:
				'With allowReentry a contact may enter again once its execution has ended, without it only once.',
		})
	}
}

const notEnabled = () =>
	new ApiError(400, 'BAD_REQUEST', 'This workflow is not enabled', {
		suggestion: 'Enable it with PATCH /workflows/{id}.',
	})

const alreadyActive = () =>
	new ApiError(409, 'CONFLICT', 'Another execution of this contact is active', {
		suggestion: 'Cancel it first, or let it end.',
	})

const withoutContact = (status: string) =>
	new ApiError(409, 'CONFLICT', 'The contact of this execution has been deleted', {
		details: { status, contactId: null },
		suggestion: 'Start the workflow for another contact.',
	})

const wrongState = (status: string, suggestion: string) =>
	new ApiError(409, 'CONFLICT', `This execution is ${status}`, { details: { status }, suggestion })
