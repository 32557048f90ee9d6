import { MockActivityEnvironment } from '@temporalio/testing'
import type { ExecutionContext } from 'ava'
import { replayActivities } from '../../activities/webhooks/replays.ts'
import { type TurnEnd, webhookActivities } from '../../activities/webhooks/webhooks.ts'
import { setup, testSettings } from './app.ts'
import { answering, startReceiver } from './webhook-receiver.ts'

export interface EndpointJson {
	id: string
	secret: string
	enabled: boolean
	disabledReason: string | null
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
	type: string
	status: string
	tries: number
	payload: string | null
	nextTryAt: string | null
	lastAttempt: { status: number | null; error: string | null } | null
	attempts: { status: number | null; answer: string | null; error: string | null }[]
}

/** An API, a receiver, and what the run of an endpoint does in a turn. */
export async function setupWebhooks(t: ExecutionContext) {
	const settings = { allowPrivateWebhooks: true }
	const context = await setup(t, { settings })
	const { app, pool, project, withSecretKey: headers } = context
	const receiver = await startReceiver(t, answering(200))
	const services = {
		pool,
		relay: { wake() {} },
		stopping: new AbortController().signal,
		inHand: new Set<string>(),
		settings: {
			webhooks: { allowPrivate: true, dnsServers: [] },
			secret: testSettings().sessionSecret,
			platformFrom: 'noreply@tempost.example',
			publicUrl: 'http://localhost:3000',
		},
	}
	const { deliverWebhooks } = webhookActivities(services)
	const { doReplay } = replayActivities(services)

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
		services,
		ask,
		endpoint: (events: string[], more: object = {}) =>
			ask<EndpointJson>('POST', '/webhook-endpoints', { url: receiver.url, events, ...more }, 201),
		turn: (endpointId: string): Promise<TurnEnd> =>
			new MockActivityEnvironment().run(deliverWebhooks, { projectId: project.id, endpointId }),
		replay: (jobId: string) =>
			new MockActivityEnvironment().run(doReplay, { projectId: project.id, jobId }),
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
