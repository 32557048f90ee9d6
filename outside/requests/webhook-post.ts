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
	/** All secrets that sign now, newest first. None: the current one can’t be opened. */
	secrets: string[]
}

const unopened =
	'Its secret can’t be opened, because SESSION_SECRET has changed. Rotate the secret of the endpoint'

/** Previous secrets that can’t be opened are left out, so that a rotation helps at once. */
export function secretsFor(
	{ secret, previousSecrets }: { secret: Buffer; previousSecrets: Buffer[] },
	key: string,
) {
	const opened = [secret, ...previousSecrets].map((one) => openedSecret(one, key))
	return opened[0] === null ? [] : opened.filter((one) => one !== null)
}

/** One try at a delivery. */
export async function postWebhook(
	{ url, secrets }: WebhookTarget,
	{ eventId, payload }: { eventId: string; payload: string },
	options: GuardOptions,
	session: GuardedSession,
): Promise<{ attempt: WebhookAttempt; retryAfter: string | null }> {
	const now = Date.now()
	const at = new Date(now).toISOString()
	if (secrets.length === 0) {
		const attempt = { at, durationMs: 0, status: null, answer: null, error: unopened }
		return { attempt, retryAfter: null }
	}
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
			at,
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
