import { composeMessage, type Mail } from './compose.ts'
import type { Message } from './message.ts'
import { buildMime } from './mime/mime.ts'

interface Shown {
	mail: Mail
	publicUrl: string
}

// A mail as it is shown, without its attachments. Without tracking: looking at it is no open, and its links lead where
// they were meant to.

const composed = ({ mail, publicUrl }: Shown) => composeMessage(mail, [], publicUrl, null)

/** Its subject, HTML, text and headers, as JSON. */
export function shownParts(shown: Shown) {
	const message = composed(shown)
	const { subject, html, text } = message
	return Buffer.from(JSON.stringify({ subject, html, text, headers: headersOf(message) }))
}

/** Its wire format, without a signature. */
export const shownSource = (shown: Shown) => buildMime(composed(shown))

/** The headers as they are sent, unfolded and in their order. */
function headersOf(message: Message) {
	const text = buildMime({ ...message, html: '', text: '' }).toString('latin1')
	const head = text.slice(0, text.indexOf('\r\n\r\n')).replaceAll(/\r\n(?=[ \t])/g, '')
	return head.split('\r\n').map((line) => {
		const colon = line.indexOf(':')
		return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() }
	})
}
