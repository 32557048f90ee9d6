import { Resend, type CreateEmailOptions } from 'resend'
import type { Address, Message } from '../rendering/message.ts'
import type { Outcome, Provider } from './provider.ts'
import { createRequestPace } from './request-pace.ts'
import { requestWatch } from './resend-requests.ts'
import { rateAnswer, type ResendError, resendVerdict } from './resend-verdict.ts'

export interface ResendOptions {
	apiKey: string
	baseUrl?: string
	timeoutMs?: number
}

interface Answer {
	error: ResendError | null
	headers: Record<string, string> | null
}

const CONCURRENCY = 10
/** Resend's own limit. */
const BATCH_SIZE = 100

/**
 * Mail through Resend. The emailId is the idempotency key, so that whatever is in doubt is repeated
 * and arrives once: Resend remembers keys for 24 hours.
 */
export function resendProvider({ apiKey, baseUrl, timeoutMs = 30_000 }: ResendOptions): Provider {
	const resend = new Resend(apiKey, baseUrl ? { baseUrl: baseUrl.replace(/\/+$/, '') } : {})
	const requests = requestWatch()
	const pace = createRequestPace()
	// The SDK has no time limit of its own, but hands these options on to fetch.
	const options = (idempotencyKey: string) => ({
		idempotencyKey,
		signal: AbortSignal.timeout(timeoutMs),
	})

	async function ask<T extends Answer>(key: string, call: () => Promise<T>) {
		const startedAt = await pace.turn()
		const answer = await requests.watch(key, call)
		const { error, headers } = answer.value
		pace.heard(startedAt, rateAnswer(error, headers))
		return answer
	}

	async function deliver(message: Message): Promise<Outcome> {
		const call = () =>
			resend.emails.send(
				{ ...payload(message), attachments: message.attachments.map(attachment) },
				options(message.emailId),
			)
		const { value, failure } = await ask(message.emailId, call)
		if (value.error) return resendVerdict(value.error, value.headers, failure)
		return { kind: 'SENT', providerMessageId: value.data.id ?? null }
	}

	async function deliverChunk(messages: Message[], key: string): Promise<Outcome[]> {
		const call = () =>
			resend.batch.send(messages.map(payload), {
				...options(key),
				batchValidation: 'permissive',
			})
		const { value, failure } = await ask(key, call)
		if (value.error) {
			// Contacts may have changed since a batch was taken: it is its key that tells.
			const wasTaken = value.error.name === 'invalid_idempotent_request'
			const outcome: Outcome = wasTaken
				? { kind: 'SENT', providerMessageId: null }
				: resendVerdict(value.error, value.headers, failure)
			return messages.map(() => outcome)
		}
		return batchOutcomes(messages.length, value.data.data, value.data.errors ?? [])
	}

	return {
		name: 'resend',
		idempotent: true,
		concurrency: CONCURRENCY,
		deliver,
		// The same messages with the same key make the same calls, so a repeat is recognised.
		async deliverBatch(messages, idempotencyKey) {
			const outcomes = new Map<Message, Outcome>()
			const plain = messages.filter((message) => message.attachments.length === 0)
			for (let start = 0; start < plain.length; start += BATCH_SIZE) {
				const chunk = plain.slice(start, start + BATCH_SIZE)
				const key = start === 0 ? idempotencyKey : `${idempotencyKey}/${start}`
				const found = await deliverChunk(chunk, key)
				chunk.forEach((message, index) => outcomes.set(message, found[index]!))
			}
			// Resend takes no attachments in batches.
			for (const message of messages)
				if (!outcomes.has(message)) outcomes.set(message, await deliver(message))
			return messages.map((message) => outcomes.get(message)!)
		},
		async close() {
			requests.end()
		},
	}
}

/** `ids` has the accepted ones only, in order; the refused ones are told by their index. */
function batchOutcomes(
	count: number,
	ids: { id: string }[],
	errors: { index: number; message: string }[],
): Outcome[] {
	const refused = new Map(errors.map(({ index, message }) => [index, message]))
	const isComplete = ids.length + refused.size === count
	let next = 0
	return Array.from({ length: count }, (_, index): Outcome => {
		const error = refused.get(index)
		if (error !== undefined) return { kind: 'REJECTED', error, bounce: false }
		if (!isComplete) return { kind: 'UNKNOWN', error: 'The answer does not tell of every mail' }
		return { kind: 'SENT', providerMessageId: ids[next++]!.id }
	})
}

/**
 * No Message-ID among the headers: Resend makes its own. The X-Tempost-Id travels with the mail, the
 * tags come back with every webhook.
 */
function payload(message: Message) {
	const headers: Record<string, string> = {}
	let replyTo = message.replyTo ?? message.from.email
	for (const [name, value] of Object.entries(message.headers)) {
		if (name.toLowerCase() === 'reply-to') replyTo = value
		else headers[name] = value
	}
	headers['X-Tempost-Id'] = message.emailId
	return {
		from: formatted(message.from),
		to: formatted(message.to),
		replyTo,
		subject: message.subject,
		html: message.html,
		text: message.text,
		headers,
		tags: [
			{ name: 'email_id', value: tagValue(message.emailId) },
			{ name: 'project_id', value: tagValue(message.projectId) },
		],
	} satisfies CreateEmailOptions
}

const attachment = ({ filename, content, contentType, contentId }: Message['attachments'][0]) => ({
	filename,
	// As base64: a Buffer would be encoded by the SDK in JavaScript, byte by byte.
	content: content.toString('base64'),
	contentType,
	...(contentId !== null && { contentId }),
})

function formatted({ email, name }: Address) {
	if (!name) return email
	const isPlain = /^[\p{L}\p{N} '_-]+$/u.test(name)
	return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${email}>`
}

/** Resend takes ASCII letters, digits, underscores and dashes, 256 at most. */
const tagValue = (value: string) => value.replace(/[^\w-]/g, '_').slice(0, 256)
