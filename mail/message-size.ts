import { composeMessage, type Mail } from './compose.ts'
import type { Attachment } from './message.ts'
import { buildMime } from './mime/mime.ts'
import { base64LinesSize } from './mime/transfer-encoding.ts'

export interface SizedMail {
	mail: Mail
	/** Only their sizes are needed, not their contents. */
	files: (Omit<Attachment, 'content'> & { size: number })[]
	publicUrl: string
	isTracked: boolean
}

/** A token has the same length with any key. */
const anyKey = Buffer.alloc(32)

/** The size of a mail on the wire, composed and encoded, without a signature. */
export function messageSize({ mail, files, publicUrl, isTracked }: SizedMail): number {
	const tracking = isTracked ? { key: anyKey, campaignId: null } : null
	const empty = files.map((file) => ({ ...file, content: Buffer.alloc(0) }))
	const rest = buildMime(composeMessage(mail, empty, publicUrl, tracking))
	return files.reduce((sum, { size }) => sum + base64LinesSize(size), rest.length)
}
