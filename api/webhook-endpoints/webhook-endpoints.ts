import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	addEndpoint,
	changeEndpoint,
	type EndpointRow,
	endpointsOf,
	findEndpoint,
	removeEndpoint,
	rotateSecret,
} from '../../db/webhooks/webhook-endpoint-records.ts'
import { newWebhookSecret } from '../../db/projects/webhook-secret.ts'
import { sealedSecret } from '../../db/webhooks/webhook-secrets.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { administering } from '../projects/administering.ts'
import { Body, Component, Extended, PathId } from '../schemas.ts'
import { EndpointView, eventProblems, Fields, urlProblems } from './endpoint-fields.ts'

const tags = ['webhook endpoints']
const config = { auth: 'secret key or session' } as const
export const EndpointParams = Type.Object({ id: PathId('webhook endpoint') })
const mostEndpoints = 20

const secretMember = {
	secret: Type.String({
		description: 'Verifies the signatures (Standard Webhooks). Shown once: store it',
	}),
}
const Created = Extended('CreatedWebhookEndpoint', [EndpointView], secretMember)
const Rotated = Component('RotatedWebhookSecret', secretMember)

interface EndpointOptions {
	pool: Pool
	sessionSecret: string
	allowPrivateWebhooks: boolean
}

export const webhookEndpoints: FastifyPluginAsyncTypebox<EndpointOptions> = async (
	app,
	{ pool, sessionSecret, allowPrivateWebhooks },
) => {
	app.post(
		'/webhook-endpoints',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Add an address that is notified of events',
				description: `From now on, each event of these types is delivered to it, at least once. The answer has the secret of its signatures. A project may have ${mostEndpoints} endpoints.`,
				body: Body(
					{ url: 'https://example.com/webhooks', events: ['email.bounced', 'contact.*'] },
					Fields,
				),
				response: { 201: Created },
			},
		},
		async (request, reply) => {
			const { body } = request
			check(body)
			const secret = newWebhookSecret()
			const [added] = await administering(request, (_, db, projectId) =>
				addEndpoint(db, {
					projectId,
					url: body.url.trim(),
					events: body.events,
					description: body.description ?? null,
					ordering: body.ordering ?? 'none',
					disabledReason: body.enabled === false ? 'OWNER' : null,
					secret: sealedSecret(secret, sessionSecret),
					most: mostEndpoints,
				}),
			)
			if (!added)
				throw new ApiError(409, 'CONFLICT', `A project has at most ${mostEndpoints} endpoints`, {
					suggestion: 'Delete one, or let one endpoint take more types of events.',
				})
			return reply.code(201).send({ ...view(added), secret })
		},
	)

	app.get(
		'/webhook-endpoints',
		{
			config,
			schema: {
				tags,
				summary: 'List the webhook endpoints with their health, newest first',
				description: 'Secrets are not shown: they are returned once, when they are made.',
				response: { 200: Type.Array(EndpointView) },
			},
		},
		async ({ project }) => (await endpointsOf(pool, { projectId: project.id })).map(view),
	)

	app.get(
		'/webhook-endpoints/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Get a webhook endpoint with its health',
				description: 'Shows the state, the last success, failures in a row and what waits.',
				params: EndpointParams,
				response: { 200: EndpointView },
			},
		},
		async ({ project, params }) => {
			const [found] = await findEndpoint(pool, { projectId: project.id, endpointId: params.id })
			return view(existing(found, params.id))
		},
	)

	app.patch(
		'/webhook-endpoints/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Change a webhook endpoint, disable it or enable it',
				description:
					'Waiting events go to the new address. A disabled endpoint keeps its events for a replay; enabling it delivers only what happens from then on. After any change, waiting events are delivered at once, and up to 1000 of those that wait for their next try.',
				params: EndpointParams,
				body: Type.Object(
					{
						url: Type.Optional(Fields.url),
						events: Type.Optional(Fields.events),
						description: Fields.description,
						ordering: Fields.ordering,
						enabled: Fields.enabled,
					},
					{ examples: [{ enabled: false }] },
				),
				response: { 200: EndpointView },
			},
		},
		async (request) => {
			const { params, body } = request
			check(body)
			const [changed] = await administering(request, (_, db, projectId) =>
				changeEndpoint(db, {
					projectId,
					endpointId: params.id,
					changes: body as Parameters<typeof changeEndpoint>[1]['changes'],
					taskQueue: taskQueues.core,
				}),
			)
			app.relay.wake()
			return view(existing(changed, params.id))
		},
	)

	app.delete(
		'/webhook-endpoints/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Delete a webhook endpoint and its deliveries',
				description: 'Requests that are under way may still arrive.',
				params: EndpointParams,
				response: { 204: Type.Null() },
			},
		},
		async (request, reply) => {
			const { params } = request
			const [removed] = await administering(request, (_, db, projectId) =>
				removeEndpoint(db, {
					projectId,
					endpointId: params.id,
					taskQueue: taskQueues.core,
				}),
			)
			existing(removed, params.id)
			app.relay.wake()
			return reply.code(204).send(null)
		},
	)

	app.post(
		'/webhook-endpoints/:id/rotate-secret',
		{
			config,
			schema: {
				tags,
				summary: 'Give a webhook endpoint a new secret',
				description: 'The previous secret signs along for 24 hours.',
				params: EndpointParams,
				response: { 200: Rotated },
			},
		},
		async (request) => {
			const { params } = request
			const secret = newWebhookSecret()
			const [rotated] = await administering(request, (_, db, projectId) =>
				rotateSecret(db, {
					projectId,
					endpointId: params.id,
					secret: sealedSecret(secret, sessionSecret),
				}),
			)
			existing(rotated, params.id)
			return { secret }
		},
	)

	function check({ url, events }: { url?: string; events?: string[] }) {
		const problems = [...urlProblems(url, allowPrivateWebhooks), ...eventProblems(events)]
		if (problems.length > 0) throw invalid(...problems)
	}
}

export function existing<T>(found: T | undefined, id: string, resource = 'webhook endpoint'): T {
	if (found === undefined) throw notFound(resource, id)
	return found
}

function view(row: EndpointRow) {
	const { lastSuccessAt, failingSince, failuresInRow, restingUntil, waiting, ...endpoint } = row
	const state = stateOf(row)
	return {
		...endpoint,
		enabled: row.disabledReason === null,
		health: { state, lastSuccessAt, failingSince, failuresInRow, restingUntil, waiting },
	}
}

function stateOf({
	disabledReason,
	lastSuccessAt,
	failingSince,
}: EndpointRow): 'disabled' | 'failing' | 'new' | 'healthy' {
	if (disabledReason !== null) return 'disabled'
	if (failingSince !== null) return 'failing'
	return lastSuccessAt === null ? 'new' : 'healthy'
}
