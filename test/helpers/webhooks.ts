import { MockActivityEnvironment } from '@temporalio/testing'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { replayActivities } from '../../activities/webhooks/replays.ts'
import {
	type EndpointKey,
	type TurnEnd,
	webhookActivities,
} from '../../activities/webhooks/webhooks.ts'
import { addEndpoint } from '../../db/webhooks/webhook-endpoint-records.ts'
import { newWebhookSecret } from '../../db/projects/webhook-secret.ts'
import { sealedSecret } from '../../db/webhooks/webhook-secrets.ts'
import { setup, testSettings } from './app.ts'
import { answering, startReceiver } from './webhook-receiver.ts'

export interface EndpointJson {
	id: string
	secret: string
	enabled: boolean
	disabledReason: string | null
	replayJobId: string | null
	health: {
		state: string
		waiting: number
		failuresInRow: number
		lastSuccessAt: string | null
		restingUntil: string | null
	}
}
export interface DeliveryJson {
	id: string
	webhookId: string
	contactId: string | null
	type: string
	status: string
	tries: number
	payload: string | null
	nextTryAt: string | null
	occurredAt: string
	lastAttempt: { status: number | null; error: string | null } | null
	attempts: { status: number | null; answer: string | null; error: string | null }[]
}

const webhookServices = (pool: Pool, secret = testSettings().sessionSecret) => ({
	pool,
	relay: { wake() {} },
	stopping: new AbortController().signal,
	inHand: new Set<string>(),
	settings: {
		webhooks: { allowPrivate: true, dnsServers: [] },
		secret,
		platformFrom: 'noreply@tempost.example',
		publicUrl: 'http://localhost:3000',
	},
})

/** As the endpoint's run takes it. */
export const takeTurn = (pool: Pool, key: EndpointKey, secret?: string): Promise<TurnEnd> =>
	new MockActivityEnvironment().run(
		webhookActivities(webhookServices(pool, secret)).deliverWebhooks,
		key,
	)

/** As the run of a replay does it. */
export const replayWork = (pool: Pool) => replayActivities(webhookServices(pool)).doReplay

/** An endpoint of a project without an API. */
export async function addedEndpoint(pool: Pool, projectId: string, url: string, events: string[]) {
	const secret = sealedSecret(newWebhookSecret(), testSettings().sessionSecret)
	const plain = { description: null, ordering: 'none', disabledReason: null, most: 9 }
	return (await addEndpoint(pool, { ...plain, projectId, url, events, secret }))[0]!.id
}

/** An API, a receiver, and what the run of an endpoint does in a turn. */
export async function setupWebhooks(t: ExecutionContext) {
	const settings = { allowPrivateWebhooks: true }
	const context = await setup(t, { settings })
	const { app, pool, project, withSecretKey: headers } = context
	const receiver = await startReceiver(t, answering(200))

	async function ask<T>(
		method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
		url: string,
		payload?: object,
		expected = 200,
	): Promise<T> {
		const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
		t.is(response.statusCode, expected, `${method} ${url}: ${response.body}`)
		return (response.body === '' ? null : response.json()) as T
	}

	return {
		...context,
		receiver,
		ask,
		endpoint: (events: string[], more: object = {}) =>
			ask<EndpointJson>('POST', '/webhook-endpoints', { url: receiver.url, events, ...more }, 201),
		turn: (endpointId: string) => takeTurn(pool, { projectId: project.id, endpointId }),
		replay: (jobId: string) =>
			new MockActivityEnvironment().run(replayWork(pool), { projectId: project.id, jobId }),
		track: (event: string, email = 'ann@example.org', data: object = {}) =>
			ask('POST', '/events/track', { email, event, data }),
		deliveries: (endpointId: string, query = '') =>
			ask<{ data: DeliveryJson[]; cursor?: string; hasMore: boolean; total: number }>(
				'GET',
				`/webhook-endpoints/${endpointId}/deliveries${query}`,
			),
		/** As if the waits for the next tries were over. */
		passTime: () =>
			pool.query(
				`with rested as (update webhook_endpoints set resting_until = null)
				update webhook_deliveries set next_at = now() - interval '1 second' where next_at is not null`,
			),
	}
}
