import { type CreateEmailResponseSuccess, Resend } from 'resend'
import { takeTurn } from '../../db/event-loop.ts'
import type { Message } from '../../mail/message.ts'
import { resendBatch, resendBody } from '../../mail/resend-body.ts'
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

interface BatchTaken {
	data: { id: string }[]
	/** The index is that of a refused mail. */
	errors?: { index: number; message: string }[]
}

const CONCURRENCY = 10
/** Resend's own limit. */
const BATCH_SIZE = 100

/**
 * Mail through Resend. The emailId is the idempotency key, so a mail in doubt is repeated and arrives
 * once. Resend remembers keys for 24 hours.
 */
export function resendProvider({ apiKey, baseUrl, timeoutMs = 30_000 }: ResendOptions): Provider {
	const resend = new Resend(apiKey, baseUrl ? { baseUrl: baseUrl.replace(/\/+$/, '') } : {})
	const requests = requestWatch()
	const pace = createRequestPace()
	// The SDK has no time limit of its own and writes a body at once, but passes these options on to fetch.
	async function options(idempotencyKey: string, parts: Parts) {
		const body = await bytesOf(parts)
		return { idempotencyKey, body, signal: AbortSignal.timeout(timeoutMs) }
	}

	async function ask<T extends Answer>(key: string, call: () => Promise<T>) {
		const turn = await pace.turn()
		if ('waitMs' in turn) return { value: refusedBefore(turn.waitMs), failure: undefined }
		const answer = await requests.watch(key, call)
		const { error, headers } = answer.value
		pace.heard(turn.startedAt, rateAnswer(error, headers))
		return answer
	}

	async function post(emailId: string, parts: Parts): Promise<Outcome> {
		const call = async () =>
			resend.post<CreateEmailResponseSuccess>('/emails', undefined, await options(emailId, parts))
		const { value, failure } = await ask(emailId, call)
		if (value.error) return resendVerdict(value.error, value.headers, failure)
		return { kind: 'SENT', providerMessageId: value.data.id ?? null }
	}

	const deliver = (message: Message) => post(message.emailId, resendBody(message))

	async function deliverChunk(messages: Message[], key: string): Promise<Outcome[]> {
		const call = async () =>
			resend.post<BatchTaken>('/emails/batch', undefined, {
				...(await options(key, resendBatch(messages))),
				headers: { 'x-batch-validation': 'permissive' },
			})
		const { value, failure } = await ask(key, call)
		if (value.error) {
			const outcome = resendVerdict(value.error, value.headers, failure)
			return messages.map(() => outcome)
		}
		return batchOutcomes(messages.length, value.data.data, value.data.errors ?? [])
	}

	return {
		name: 'resend',
		idempotent: true,
		concurrency: CONCURRENCY,
		deliver,
		encoding: 'resend',
		deliverEncoded: ({ emailId, content }) => post(emailId, partsOf(content)),
		// The same messages with the same key make the same requests, so Resend recognises a repeat.
		async deliverBatch(messages, idempotencyKey) {
			const outcomes = new Map<Message, Outcome>()
			const plain = messages.filter((message) => message.attachments.length === 0)
			for (let start = 0; start < plain.length; start += BATCH_SIZE) {
				const chunk = plain.slice(start, start + BATCH_SIZE)
				const key = start === 0 ? idempotencyKey : `${idempotencyKey}/${start}`
				const found = await deliverChunk(chunk, key)
				chunk.forEach((message, index) => outcomes.set(message, found[index]!))
			}
			// Resend accepts no attachments in batches.
			for (const message of messages)
				if (!outcomes.has(message)) outcomes.set(message, await deliver(message))
			return messages.map((message) => outcomes.get(message)!)
		},
		async close() {
			requests.end()
		},
	}
}

/** As Resend would answer. */
const refusedBefore = (waitMs: number) => ({
	data: null,
	error: {
		name: 'rate_limit_exceeded',
		message: 'Resend has asked to wait',
		statusCode: 429,
	},
	headers: { 'retry-after': String(waitMs / 1000) },
})

/** `ids` contains only the accepted mails, in order. The refused ones are identified by index. */
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
		if (!isComplete) return { kind: 'UNKNOWN', error: 'The answer does not cover every mail' }
		return { kind: 'SENT', providerMessageId: ids[next++]!.id }
	})
}

/** The parts of a request's body, each small enough to be copied at once. */
type Parts = Iterable<Part>
type Part = string | Buffer<ArrayBuffer>

const partBytes = 2 ** 18

function* partsOf(content: Buffer) {
	for (let at = 0; at < content.length; at += partBytes)
		yield content.subarray(at, at + partBytes) as Buffer<ArrayBuffer>
}

/** A single part stays as it is. Several become a Blob, with pauses for other work. */
async function bytesOf(parts: Parts) {
	const written: (Part | Blob)[] = []
	for (const part of parts) {
		await takeTurn()
		written.push(written.length === 0 ? part : new Blob([part]))
	}
	return written.length === 1 ? (written[0] as Part) : new Blob(written)
}
