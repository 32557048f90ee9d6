import { openedSecret } from '../../db/webhooks/webhook-secrets.ts'
import { signWebhook } from '../../db/projects/webhook-secret.ts'
import { storableText } from '../../db/storable-text.ts'
import type { WebhookAttempt } from '../../db/webhooks/webhook-delivery.ts'
import { type GuardedSession, type GuardOptions, sessionRequest } from './guarded-request.ts'

export const maxAnswerBytes = 4096

/** A redirect is reported as a failure, and in words, because nobody expects it. */
const hintOf = (status: number) =>
	status >= 300 && status < 400 ? 'It redirects. Give the endpoint its final address' : null

export interface WebhookTarget {
	url: string
	/** All secrets that sign now, newest first. */
	secrets: string[]
}

export const secretsFor = (
	{ secret, previousSecrets }: { secret: Buffer; previousSecrets: Buffer[] },
	key: string,
) => [secret, ...previousSecrets].map((one) => openedSecret(one, key))

/** One try at a delivery. */
export async function postWebhook(
	{ url, secrets }: WebhookTarget,
	{ eventId, payload }: { eventId: string; payload: string },
	options: GuardOptions,
	session: GuardedSession,
): Promise<{ attempt: WebhookAttempt; retryAfter: string | null }> {
	const now = Date.now()
	const began = performance.now()
	const timestamp = Math.floor(now / 1000)
	const headers = {
		'user-agent': 'Tempost',
		'content-type': 'application/json',
		'webhook-id': eventId,
		'webhook-timestamp': String(timestamp),
		'webhook-signature': signWebhook(secrets, { id: eventId, timestamp, body: payload }),
	}
	const answer = await sessionRequest(
		{ url, method: 'POST', headers, body: payload },
		options,
		session,
	)
	const isAnswered = answer.kind === 'answered'
	return {
		attempt: {
			at: new Date(now).toISOString(),
			durationMs: Math.round(performance.now() - began),
			status: isAnswered ? answer.status : null,
			answer: isAnswered ? storableText(answer.text) : null,
			error: isAnswered ? hintOf(answer.status) : answer.error,
		},
		retryAfter: isAnswered ? answer.retryAfter : null,
	}
}

export const isSuccess = ({ status }: WebhookAttempt) =>
	status !== null && status >= 200 && status < 300

export const payloadOf = (type: string, occurredAt: Date, data: object) =>
	JSON.stringify({ type, timestamp: occurredAt.toISOString(), data })
