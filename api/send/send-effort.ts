import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { base64LinesSize } from '../../mail/mime/transfer-encoding.ts'
import { invalid } from '../errors.ts'
import type { SendRequest } from './send-request.ts'

/**
 * After this time other work gets a turn. A third of the allowed time, because a request needs the event
 * loop several times.
 */
const longestTurnMs = 20
const longestRenderMs = 5000
export const maxMessageBytes = 40 * 2 ** 20
/** The limit of one statement: a jsonb value holds at most 256 MB. */
const maxRequestBytes = 128 * 2 ** 20
/** Writing more than this in one statement blocks the event loop noticeably. */
const mostBytesOnLoop = 2 * 2 ** 20

/** The layout, and our headers. */
const otherBytes = 2 ** 16
/** The headers of a file, whose names are encoded. */
const fileHeadBytes = 2 ** 13
/**
 * How many bytes of HTML and text part together one byte of a body may cause. The worst case is 28: a
 * preformatted line of one character is indented by 46 in a list within five quotations. The shortest
 * tracked link grows 15 times if our public address has 120 characters.
 */
export const mostGrowth = 32

interface Spent {
	subject: string
	body: string
	text: string | null
	ms: number
	sizeOf: () => Promise<number>
}

/** The mails of this request must be rendered on a thread. None of them has been written yet. */
export class LargeMails extends Error {}

export type Effort = ReturnType<typeof createEffort>

/** Adds up one request's mails, so that neither a single mail nor the total is too large. */
export function createEffort() {
	let bytes = 0
	let renderMs = 0
	let turnBegan = performance.now()

	/** For the mails of one message. */
	function of({ files, tags }: SendRequest, headers: Record<string, string>) {
		const fileBytes = files.reduce((sum, { size }) => sum + base64LinesSize(size), 0)
		const headerBytes = Buffer.byteLength(JSON.stringify(headers))
		const tagBytes = Buffer.byteLength(JSON.stringify(tags))
		/** `sizeOf` composes the mail to measure it. Only a mail that could be too large is measured. */
		return async function spend({ subject, body, text, ms, sizeOf }: Spent) {
			const bodyBytes = Buffer.byteLength(body) + Buffer.byteLength(text ?? '')
			const headBytes =
				otherBytes + fileHeadBytes * files.length + 4 * (headerBytes + Buffer.byteLength(subject))
			const mostBytes = fileBytes + headBytes + mostGrowth * bodyBytes
			if (mostBytes > maxMessageBytes && (await sizeOf()) > maxMessageBytes)
				throw tooBig(
					fileBytes > bodyBytes ? 'attachments' : 'body',
					'makes the message larger than 40 MB',
				)
			bytes += bodyBytes + Buffer.byteLength(subject) + headerBytes + tagBytes
			if (bytes > maxRequestBytes)
				throw tooBig('to', 'makes the mails of this request larger than 128 MB together')
			if (isMainThread && bytes > mostBytesOnLoop) throw new LargeMails('These mails are large')
			renderMs += ms
			if (renderMs > longestRenderMs)
				throw tooBig('to', 'has more recipients than can be rendered within 5 seconds')
			const turnMs = performance.now() - turnBegan
			if (turnMs < longestTurnMs) return
			await sleep(Math.min(turnMs, longestTurnMs) / 2)
			turnBegan = performance.now()
		}
	}

	return { of }
}

const tooBig = (field: string, message: string) => invalid({ field, message, code: 'too_big' })
