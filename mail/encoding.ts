import type { Message } from './message.ts'
import { type DkimKey, signed } from './mime/dkim.ts'
import { buildMime } from './mime/mime.ts'
import { resendBody } from './resend-body.ts'

/** The form in which a provider takes a mail. */
export type Encoding = 'mime' | 'signed mime' | 'resend'

/** A mail in the form that its provider takes, and what the provider needs beside it. */
export interface EncodedMail {
	emailId: string
	projectId: string
	from: string
	to: string
	/** The addresses of further recipients. Absent, here and in the next: none. */
	cc?: string[]
	bcc?: string[]
	subject: string
	content: Buffer
}

/** Encodes a mail of any size at once. A mail without a key is not signed. Rejects when the key can't sign. */
export async function encoded(message: Message, encoding: Encoding, dkim: DkimKey | undefined) {
	if (encoding === 'resend')
		return Buffer.concat(Array.from(resendBody(message), (part) => Buffer.from(part)))
	const raw = buildMime(message)
	return dkim && encoding === 'signed mime' ? signed(raw, dkim) : raw
}

export const withContent = (message: Message, content: Buffer): EncodedMail => ({
	emailId: message.emailId,
	projectId: message.projectId,
	from: message.from.email,
	to: message.to.email,
	...copyAddresses(message),
	subject: message.subject,
	content,
})

export const copyAddresses = ({ cc, bcc }: Pick<Message, 'cc' | 'bcc'>) => ({
	...(cc && { cc: cc.map(({ email }) => email) }),
	...(bcc && { bcc: bcc.map(({ email }) => email) }),
})
