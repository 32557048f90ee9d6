import { setTimeout as sleep } from 'node:timers/promises'
import { invalid } from '../errors.ts'
import type { SendRequest } from './send-request.ts'

/** After that others have their turn: a third of the time, for one request needs the loop several times. */
const longestTurnMs = 20
const longestRenderMs = 5000
export const maxMessageBytes = 40 * 2 ** 20
/** What one statement can write: a jsonb value holds 256 MB at most. */
const maxRequestBytes = 128 * 2 ** 20

/** Keeps account of one request's mails, so that none is too large and all of them not too much. */
export function createEffort(files: SendRequest['files'], headers: Record<string, string>) {
	// In the mail they are base64 again, in lines of 76 characters.
	const fileBytes = files.reduce((sum, { size }) => sum + size, 0) * 1.37
	const headerBytes = Buffer.byteLength(JSON.stringify(headers))
	let bytes = 0
	let renderMs = 0
	let turnBegan = performance.now()
	return {
		async spent({ subject, body }: { subject: string; body: string }, ms: number) {
			const bodyBytes = Buffer.byteLength(body)
			if (fileBytes + bodyBytes > maxMessageBytes)
				throw tooBig(
					fileBytes > bodyBytes ? 'attachments' : 'body',
					'makes the message larger than 40 MB',
				)
			bytes += bodyBytes + Buffer.byteLength(subject) + headerBytes
			if (bytes > maxRequestBytes)
				throw tooBig('to', 'makes the mails of this request larger than 128 MB together')
			renderMs += ms
			if (renderMs > longestRenderMs)
				throw tooBig('to', 'has more recipients than can be rendered within 5 seconds')
			const turnMs = performance.now() - turnBegan
			if (turnMs < longestTurnMs) return
			await sleep(Math.min(turnMs, longestTurnMs) / 2)
			turnBegan = performance.now()
		},
	}
}

const tooBig = (field: string, message: string) => invalid({ field, message, code: 'too_big' })
