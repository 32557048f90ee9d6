import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { endpointSecrets, endWaits } from '../../db/webhooks/webhook-endpoint-records.ts'
import { eventPrefix } from '../../db/webhooks/webhook-types.ts'
import { openSession } from '../../outside/requests/guarded-request.ts'
import {
	isSuccess,
	maxAnswerBytes,
	payloadOf,
	postWebhook,
	secretsFor,
} from '../../outside/requests/webhook-post.ts'
import { about, Component, Id, Nullable } from '../schemas.ts'
import { eventProblems } from './endpoint-fields.ts'
import { invalid } from '../errors.ts'
import { testSlots } from './test-slots.ts'
import { EndpointParams, existing } from './webhook-endpoints.ts'
import { eventPayload, webhookPayloads } from './webhook-payloads.ts'

const TestResult = Component('WebhookTest', {
	webhookId: about('The `webhook-id` of the request', Id),
	success: Type.Boolean({ description: 'The endpoint answered with a 2xx' }),
	status: Nullable(Type.Integer()),
	durationMs: Type.Integer(),
	answer: about('The first 4 KB of the answer', Nullable(Type.String())),
	error: about('Why there was no answer', Nullable(Type.String())),
	payload: about('The body that was sent', Type.String()),
})

interface TestOptions {
	pool: Pool
	sessionSecret: string
	dnsServers: string[]
	allowPrivateWebhooks: boolean
}

export const webhookTests: FastifyPluginAsyncTypebox<TestOptions> = async (
	app,
	{ pool, sessionSecret, dnsServers, allowPrivateWebhooks },
) => {
	const inSlot = testSlots()
	app.post(
		'/webhook-endpoints/:id/test',
		{
			config: { auth: 'secret key or session', errors: [429] },
			schema: {
				tags: ['webhook endpoints'],
				summary: 'Deliver a sample to a webhook endpoint, now',
				description:
					'Waits for the answer, at most ten seconds, and returns the endpoint’s response. A project may have two tests under way at a time; more are refused with 429. The sample is the example of its type and is not stored. After a success, waiting events are delivered at once, and up to 1000 of those that wait for their next try.',
				params: EndpointParams,
				body: Type.Object(
					{
						type: Type.Optional(
							Type.String({
								maxLength: 300,
								description: 'The type of the sample. `email.sent` unless you set it.',
							}),
						),
					},
					{ examples: [{ type: 'email.bounced' }] },
				),
				response: { 200: TestResult },
			},
		},
		({ project, params, body }) =>
			inSlot(project.id, () => deliver(project.id, params.id, body.type ?? 'email.sent')),
	)

	async function deliver(projectId: string, endpointId: string, type: string) {
		const example = exampleOf(type)
		const key = { projectId, endpointId }
		const [found] = await endpointSecrets(pool, key)
		const { url, ...sealed } = existing(found, endpointId)
		const eventId = randomUUID()
		const payload = payloadOf(type, new Date(), example)
		const session = openSession({ connections: 1, maxAnswerBytes })
		try {
			const { attempt } = await postWebhook(
				{ url, secrets: secretsFor(sealed, sessionSecret) },
				{ eventId, payload },
				{ dnsServers, allowPrivate: allowPrivateWebhooks },
				session,
			)
			const success = isSuccess(attempt)
			if (success) {
				await endWaits(pool, key)
				app.relay.wake()
			}
			const { status, durationMs, answer, error } = attempt
			return { webhookId: eventId, success, status, durationMs, answer, error, payload }
		} finally {
			session.close()
		}
	}
}

function exampleOf(type: string): object {
	const known = webhookPayloads[type as keyof typeof webhookPayloads]
	if (known) return known.example
	if (type.endsWith('*') || eventProblems([type]).length > 0)
		throw invalid({
			field: 'type',
			message: 'is not a type of webhook',
			code: 'invalid_enum_value',
			received: type,
		})
	return { ...eventPayload.example, name: type.slice(eventPrefix.length) }
}
