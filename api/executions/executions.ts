import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import { wholeDataProblems } from '../../db/contacts/contact-data.ts'
import { beginExecutions, lockContacts } from '../../db/executions/execution-beginning.ts'
import { cancelExecutions, cancelOne } from '../../db/executions/execution-cancelling.ts'
import { findExecution } from '../../db/executions/execution-records.ts'
import { retryExecution, retryFailedExecutions } from '../../db/executions/execution-retrying.ts'
import { transaction } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { foundAutomation } from '../automations/automation-editing.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { about, Body, Id } from '../schemas.ts'
import { Execution, ExecutionParams, WorkflowParams } from './execution-views.ts'

const tags = ['workflows']
const auth = 'secret key or session'

/** Routes that change executions; api/executions/execution-list.ts shows them. */
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
								description: 'Variables of this execution. They override the data of the contact',
							}),
						),
					},
				),
				response: { 201: Execution },
			},
		},
		async ({ em, project, params, body: { contactId, context = {} } }, reply) => {
			const problems = wholeDataProblems(context, 'context')
			if (problems.length > 0) throw invalid(...problems)
			const { enabled } = await foundAutomation(em, {
				projectId: project.id,
				automationId: params.id,
			})
			const begun = await transaction(pool, async (db) => {
				const [contact] = await lockContacts(db, { projectId: project.id, contactIds: [contactId] })
				if (!contact) throw notFound('contact', contactId)
				if (!enabled) throw notEnabled()
				const who = {
					automationId: params.id,
					contactIds: [contactId],
					context,
					scheduledFor: null,
					taskQueue: taskQueues.core,
				}
				const [begun] = await beginExecutions(db, { projectId: project.id, ...who })
				return begun
			})
			if (!begun) throw await refusal(em, project.id, params.id, contactId)
			app.relay.wake()
			return reply.code(201).send(await execution(em, project.id, params.id, begun.id))
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
					'A step that is running may still take effect, but no further step starts. An execution that has ended is refused with 409.',
				params: ExecutionParams,
				response: { 200: Execution },
			},
		},
		async ({ em, project, params: { id, executionId } }) => {
			const values = {
				projectId: project.id,
				executionId,
				automationId: id,
				reason: 'Cancelled by request',
				closesRun: true,
			}
			const [cancelled] = await cancelOne(pool, values)
			const found = await execution(em, project.id, id, executionId)
			if (!cancelled) throw wrongState(found.status, 'Only an active execution can be cancelled.')
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
		async ({ em, project, params: { id } }) => {
			await foundAutomation(em, { projectId: project.id, automationId: id })
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
		async ({ em, project, params: { id, executionId } }) => {
			const values = {
				projectId: project.id,
				automationId: id,
				executionId,
				taskQueue: taskQueues.core,
			}
			const [retried] = await retryExecution(pool, values).catch((error: { code?: string }) => {
				if (error.code === '23505') throw alreadyActive()
				throw error
			})
			const found = await execution(em, project.id, id, executionId)
			if (!retried && found.contactId === null) throw withoutContact(found.status)
			if (!retried) throw wrongState(found.status, 'Only a failed execution can be retried.')
			app.relay.wake()
			return found
		},
	)

	app.post(
		'/workflows/:id/executions/retry-failed',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Retry every failed execution of a workflow',
				description:
					'Each continues as in a single retry. The answer counts them. Executions whose contact was deleted, or has an active execution, are left out. Of several of one contact, the newest is retried.',
				params: WorkflowParams,
				response: { 200: Type.Object({ retried: Type.Integer() }) },
			},
		},
		async ({ em, project, params: { id } }) => {
			await foundAutomation(em, { projectId: project.id, automationId: id })
			const retried = await retryFailedExecutions(pool, project.id, id, taskQueues.core)
			app.relay.wake()
			return { retried }
		},
	)

	async function execution(em: EntityManager, projectId: string, workflowId: string, id: string) {
		const [found] = await findExecution(pool, {
			projectId,
			automationId: workflowId,
			executionId: id,
		})
		if (found) return found
		await foundAutomation(em, { projectId, automationId: workflowId })
		throw notFound('execution', id)
	}

	/** Why none has started: the workflow was disabled or deleted meanwhile, or an execution exists. */
	async function refusal(em: EntityManager, projectId: string, id: string, contactId: string) {
		const { enabled } = await foundAutomation(em, { projectId, automationId: id })
		if (!enabled) return notEnabled()
		return new ApiError(409, 'CONFLICT', 'This contact cannot enter the workflow again', {
			details: { contactId },
			suggestion:
				'Without allowReentry, a contact can enter a workflow only once. With it, a contact can enter again once its execution has ended.',
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
