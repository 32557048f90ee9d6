import { createHmac, randomUUID } from 'node:crypto'
import type { AcceptedMail } from './resend-fake.ts'

export const webhookSecret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`

/** A webhook as Resend posts it: raw bytes and signature headers. */
export function signedWebhook(
	payload: unknown,
	{ id = `msg_${randomUUID()}`, at = Date.now(), secret = webhookSecret } = {},
) {
	const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
	const timestamp = String(Math.floor(at / 1000))
	const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
	const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
	return {
		method: 'POST',
		url: '/webhooks/resend',
		headers: {
			'content-type': 'application/json',
			'svix-id': id,
			'svix-timestamp': timestamp,
			'svix-signature': `v1,${signature}`,
		},
		payload: body,
	} as const
}

interface Mail {
	id: string
	from: string
	to: string[]
	subject: string
	tags: Record<string, string> | undefined
}

/** An event of a mail, with the data that its type carries. */
export function resendEvent(type: string, mail: Partial<Mail>, more: object = {}) {
	const { id = randomUUID(), from = 'app@example.com', to, subject = 'Hello', tags } = mail
	const created_at = new Date().toISOString()
	return {
		type: `email.${type}`,
		created_at,
		data: {
			created_at,
			email_id: id,
			from,
			to: to ?? ['anna@example.org'],
			subject,
			...(tags && { tags }),
			...more,
		},
	}
}

/** Posts an event about a mail that the fake of Resend accepted to a running API. */
export async function postResendEvent(
	apiUrl: string,
	type: string,
	{ id, mail }: AcceptedMail,
	more: object = {},
) {
	const tags = Object.fromEntries((mail.tags ?? []).map(({ name, value }) => [name, value]))
	const { from = '', subject = '' } = mail
	const event = resendEvent(type, { id, from, to: [mail.to ?? []].flat(), subject, tags }, more)
	const { method, url, headers, payload } = signedWebhook(event)
	return fetch(`${apiUrl}${url}`, { method, headers, body: payload })
}

export const bounce = (type: string, message = 'The address does not exist') => ({
	bounce: { type, subType: 'General', message },
})
