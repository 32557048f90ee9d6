import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { replayTypes, jobStates } from '../../db/jobs/job.ts'
import { cancelJob } from '../../db/jobs/jobs.ts'
import { transaction } from '../../db/transaction.ts'
import { findEndpoint } from '../../db/webhooks/webhook-endpoint-records.ts'
import {
	acceptReplay,
	activeReplay,
	findReplay,
	lockForReplay,
} from '../../db/webhooks/webhook-replays.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { ApiError, invalid } from '../errors.ts'
import { Queued } from '../jobs/jobs.ts'
import { about, Body, Component, Id, Nullable, PathId, Timestamp } from '../schemas.ts'
import { eventProblems, Fields } from './endpoint-fields.ts'
import { EndpointParams, existing } from './webhook-endpoints.ts'

const tags = ['webhook endpoints']
const config = { auth: 'secret key or session' } as const
const JobParams = Type.Object({ id: PathId('webhook endpoint'), jobId: PathId('replay') })

const ReplayJob = Component('WebhookReplay', {
	id: Id,
	state: Type.Enum([...jobStates]),
	progress: Type.Integer({ minimum: 0, maximum: 100 }),
	replayed: Type.Integer({ description: 'Deliveries that it has made due again' }),
	from: Timestamp,
	to: Timestamp,
	only: Type.Enum(['failed', 'all']),
	failedReason: Nullable(Type.String()),
	createdAt: Timestamp,
	startedAt: Nullable(Timestamp),
	finishedAt: Nullable(Timestamp),
})

export const webhookReplays: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/webhook-endpoints/:id/replay',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Deliver the events of a period again',
				description:
					'The requests have the same `webhook-id` and the same body as before. Deliveries are kept for 30 days. An endpoint has one replay at a time: another is refused with 409 until it has ended.',
				params: EndpointParams,
				body: Body(
					{ from: '2026-11-22T00:00:00Z', to: '2026-11-23T00:00:00Z', only: 'failed' },
					{
						from: about('The beginning of the period.', Timestamp),
						to: about('Its end.', Timestamp),
						types: Type.Optional(about('All types unless you list some.', Fields.events)),
						only: Type.Optional(
							Type.Enum(['failed', 'all'], {
								description:
									'`failed`: what was given up or kept while the endpoint was disabled. `all`: also what was delivered. `failed` unless you set it.',
							}),
						),
					},
				),
				response: { 202: Queued },
			},
		},
		async ({ project, params, body }, reply) => {
			const [endpoint] = await findEndpoint(pool, { projectId: project.id, endpointId: params.id })
			const { disabledReason } = existing(endpoint, params.id)
			const [from, to] = [new Date(body.from), new Date(body.to)]
			const problems = eventProblems(body.types).map((one) => ({
				...one,
				field: one.field.replace('events', 'types'),
			}))
			if (from > to)
				problems.unshift({ field: 'to', message: 'must not be before from', code: 'custom' })
			if (problems.length > 0) throw invalid(...problems)
			if (disabledReason !== null)
				throw new ApiError(409, 'CONFLICT', 'The endpoint is disabled', {
					suggestion: 'Enable the endpoint first.',
				})
			const key = { projectId: project.id, endpointId: params.id }
			const jobId = await transaction(pool, async (db) => {
				await lockForReplay(db, key)
				const [active] = await activeReplay(db, key)
				if (active) throw stillReplaying(active.id)
				const [job] = await acceptReplay(db, {
					projectId: project.id,
					target: {
						endpointId: params.id.toLowerCase(),
						from: from.toISOString(),
						to: to.toISOString(),
						types: body.types ?? null,
						only: body.only ?? 'failed',
					},
					taskQueue: taskQueues.core,
				})
				return job!.id
			})
			app.relay.wake()
			return reply
				.code(202)
				.header('location', `/webhook-endpoints/${params.id}/replay/${jobId}`)
				.send({ message: 'The replay is queued', jobId })
		},
	)

	app.get(
		'/webhook-endpoints/:id/replay/:jobId',
		{
			config,
			schema: {
				tags,
				summary: 'Get a replay and its progress',
				description:
					'Once it is completed, all its deliveries are due; the endpoint’s list shows how they go.',
				params: JobParams,
				response: { 200: ReplayJob },
			},
		},
		({ project, params }) => viewReplay(project.id, params),
	)

	app.delete(
		'/webhook-endpoints/:id/replay/:jobId',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Cancel a replay',
				description: 'Deliveries that it has made due already are still made.',
				params: JobParams,
				response: { 200: ReplayJob },
			},
		},
		async ({ project, params }) => {
			await viewReplay(project.id, params)
			const [cancelled] = await cancelJob(pool, {
				projectId: project.id,
				jobId: params.jobId,
				types: [...replayTypes],
			})
			const job = await viewReplay(project.id, params)
			if (!cancelled)
				throw new ApiError(409, 'CONFLICT', `This job is ${job.state} and cannot be cancelled`, {
					details: { state: job.state },
					suggestion: 'Only a job that is waiting or active can be cancelled.',
				})
			return job
		},
	)

	async function viewReplay(projectId: string, { id, jobId }: { id: string; jobId: string }) {
		const [endpoint] = await findEndpoint(pool, { projectId, endpointId: id })
		existing(endpoint, id)
		const [row] = await findReplay(pool, { projectId, jobId, endpointId: id })
		const { target, total, position, changedCount, ...job } = existing(row, jobId, 'replay')
		const share = total ? Math.min(99, Math.floor((100 * position) / total)) : 0
		return {
			...job,
			progress: job.state === 'completed' ? 100 : share,
			replayed: changedCount,
			from: new Date(target.from),
			to: new Date(target.to),
			only: target.only,
		}
	}
}

const stillReplaying = (jobId: string) =>
	new ApiError(409, 'CONFLICT', 'A replay to this endpoint is under way', {
		details: { jobId },
		suggestion: 'Wait until it has ended, or cancel it.',
	})
