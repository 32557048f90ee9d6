import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool, PoolClient } from 'pg'
import { deliveryStatuses, type WebhookAttempt } from '../../db/webhooks/webhook-delivery.ts'
import {
	countDeliveries,
	type DeliveryRow,
	findDelivery,
	listDeliveries,
	retryDelivery,
} from '../../db/webhooks/webhook-delivery-records.ts'
import { findEndpoint, mostCounted } from '../../db/webhooks/webhook-endpoint-records.ts'
import { scanWithin } from '../../db/timed-reading.ts'
import { payloadOf } from '../../outside/requests/webhook-post.ts'
import { ApiError, tooMuchToRead } from '../errors.ts'
import {
	about,
	Component,
	Cursor,
	cursorPage,
	decodeCursor,
	encodeCursor,
	Extended,
	Id,
	Nullable,
	PathId,
	Timestamp,
} from '../schemas.ts'
import { EndpointParams, existing } from './webhook-endpoints.ts'

const tags = ['webhook endpoints']
const config = { auth: 'secret key or session' } as const
const Params = Type.Object({ id: PathId('webhook delivery') })
const Position = Type.Tuple([Type.String({ format: 'uuid' })])

const Status = Type.Enum([...deliveryStatuses], {
	description:
		'PENDING: due, or waits for its next try. FAILED: given up after eight tries. HELD: kept for a replay, because its endpoint is disabled',
})

const mostMs = 5000

const tooManyDeliveries = () =>
	tooMuchToRead(
		'These deliveries take too long to find',
		'Give `from` and `to` for a shorter period.',
	)

const attempt = {
	at: Timestamp,
	durationMs: Type.Integer(),
	status: about('The status of the answer; null: there was none', Nullable(Type.Integer())),
	error: about('Why there was no answer', Nullable(Type.String())),
}

const DeliveryView = Component('WebhookDelivery', {
	id: Id,
	endpointId: Id,
	webhookId: about('The `webhook-id` of its requests: the same for all endpoints', Id),
	type: Type.String(),
	emailId: Nullable(Id),
	contactId: Nullable(Id),
	status: Status,
	tries: Type.Integer({ description: 'At most the latest 20 are kept' }),
	lastAttempt: Nullable(Type.Object(attempt)),
	nextTryAt: Nullable(Timestamp),
	occurredAt: Timestamp,
})

const DeliveryDetail = Extended('WebhookDeliveryDetail', [DeliveryView], {
	payload: Nullable(
		Type.String({
			description:
				'The body as it was sent; before the first try, as it would be sent now. Null once the person was erased',
		}),
	),
	attempts: Type.Array(
		Type.Object({
			...attempt,
			answer: about('The first 4 KB of the answer', Nullable(Type.String())),
		}),
	),
})

export const webhookDeliveries: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.get(
		'/webhook-endpoints/:id/deliveries',
		{
			config,
			schema: {
				tags,
				summary: 'List the deliveries to a webhook endpoint, newest first',
				description: `Deliveries are kept for 30 days. \`total\` is counted up to ${mostCounted}.`,
				params: EndpointParams,
				querystring: Type.Object({
					status: Type.Optional(about('Only deliveries with this status.', Status)),
					type: Type.Optional(Type.String({ description: 'Only events of this type.' })),
					emailId: Type.Optional(about('Only events of this mail.', Id)),
					contactId: Type.Optional(about('Only events of this contact and its mails.', Id)),
					from: Type.Optional(about('Only events since then.', Timestamp)),
					to: Type.Optional(about('Only events until then.', Timestamp)),
					cursor: Cursor,
					limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
				}),
				response: { 200: cursorPage(DeliveryView) },
			},
		},
		async ({ project, params, query: { cursor, limit, ...query } }) => {
			const [endpoint] = await findEndpoint(pool, { projectId: project.id, endpointId: params.id })
			existing(endpoint, params.id)
			const size = Math.min(limit, 100)
			const filter = { projectId: project.id, endpointId: params.id, ...query }
			const [before] = cursor === undefined ? [] : decodeCursor(Position, cursor)
			const read = async (db: Pool | PoolClient) => ({
				rows: await listDeliveries(db, filter, before ?? null, size + 1),
				total: before === undefined ? await countDeliveries(db, filter) : 0,
			})
			// Among millions few may match, and all are read to find them.
			const found =
				query.status || query.type
					? await scanWithin(pool, project.id, mostMs, read)
					: await read(pool)
			if (!found) throw tooManyDeliveries()
			const { rows, total } = found
			const data = rows.slice(0, size).map(view)
			const hasMore = rows.length > size
			return {
				data,
				...(hasMore ? { cursor: encodeCursor([data.at(-1)!.id]) } : {}),
				hasMore,
				total,
			}
		},
	)

	app.get(
		'/webhook-deliveries/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Get a delivery with its payload and every try',
				description:
					'Each try has its time, duration and status, and the first 4 KB of the answer or the network error.',
				params: Params,
				response: { 200: DeliveryDetail },
			},
		},
		async ({ project, params }) => detail(project.id, params.id),
	)

	app.post(
		'/webhook-deliveries/:id/retry',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Deliver an event again, now',
				description:
					'Before all that waits, and even if it was delivered before. If it fails, the plan of retries starts anew.',
				params: Params,
				response: { 200: DeliveryDetail },
			},
		},
		async ({ project, params }) => {
			const [endpoint] = await retryDelivery(pool, {
				projectId: project.id,
				deliveryId: params.id,
			})
			if (endpoint && !endpoint.isEnabled)
				throw new ApiError(409, 'CONFLICT', 'The endpoint of this delivery is disabled', {
					suggestion: 'Enable the endpoint first.',
				})
			app.relay.wake()
			return detail(project.id, params.id)
		},
	)

	async function detail(projectId: string, id: string) {
		const [row] = await findDelivery(pool, { projectId, deliveryId: id })
		const { data, isErased, ...delivery } = existing(row, id, 'webhook delivery')
		const { type, occurredAt, attempts, payload } = delivery
		return {
			...view(delivery),
			payload: payload ?? (data && !isErased ? payloadOf(type, occurredAt, data) : null),
			attempts: attempts.map(viewAttempt),
		}
	}
}

/** A list has no answers. Earlier releases stored none, not even null, after the person was erased. */
const viewAttempt = ({ at, ...one }: WebhookAttempt) => ({
	...one,
	answer: one.answer ?? null,
	at: new Date(at),
})

function view<Row extends DeliveryRow>({ eventId, attempts, nextAt, ...row }: Row) {
	const last = attempts.at(-1)
	return {
		...row,
		webhookId: eventId,
		tries: attempts.length,
		lastAttempt: last ? viewAttempt(last) : null,
		nextTryAt: nextAt,
	}
}
