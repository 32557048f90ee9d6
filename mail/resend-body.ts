import { partsOf } from './json-parts.ts'
import type { Address, Attachment, Message } from './message.ts'
import { isReplyTo, replyAddresses } from './mime/headers.ts'

/** Writing this much at once takes about a millisecond. */
const bytesAtOnce = 2 ** 18
/**
 * A multiple of three, so that only the last part is padded: base64 turns three bytes into four
 * characters.
 */
const fileBytesAtOnce = 3 * 2 ** 16

/** One mail for Resend, as JSON in parts of about `bytesAtOnce`. The same mail is always the same JSON. */
export const resendBody = (message: Message) => merged(mailOf(message, message.attachments))

/** Up to 100 mails. They can't have attachments. */
export const resendBatch = (messages: Message[]) => merged(listOf(messages))

function* listOf(messages: Message[]) {
	let before = '['
	for (const message of messages) {
		yield before
		yield* mailOf(message, null)
		before = ','
	}
	yield ']'
}

/** In the order of Resend's SDK, because a key must not be used for different bytes. */
function* mailOf(message: Message, attachments: Attachment[] | null) {
	if (attachments) {
		yield '{"attachments":['
		for (const [index, file] of attachments.entries()) yield* fileOf(file, index > 0 ? ',' : '')
		yield '],'
	} else yield '{'
	let skipped = 1
	for (const part of partsOf([membersOf(message)], ([only]) => JSON.stringify(only))) {
		yield part.slice(skipped)
		skipped = 0
	}
}

function* fileOf({ filename, content, contentType, contentId }: Attachment, before: string) {
	yield `${before}{"content":"`
	for (let at = 0; at < content.length; at += fileBytesAtOnce)
		yield content.toString('base64', at, at + fileBytesAtOnce)
	const rest = {
		filename,
		content_type: contentType,
		...(contentId !== null && { content_id: contentId }),
	}
	yield `",${JSON.stringify(rest).slice(1)}`
}

/**
 * The headers contain no Message-ID, because Resend sets its own. The X-Tempost-Id stays with the mail,
 * and every webhook returns the tags.
 */
function membersOf(message: Message) {
	const headers: Record<string, string> = {}
	let replyTo: string | string[] = message.replyTo ?? message.from.email
	for (const [name, value] of Object.entries(message.headers)) {
		if (isReplyTo(name)) replyTo = replyToOf(value)
		else headers[name] = value
	}
	headers['X-Tempost-Id'] = message.emailId
	return {
		...(message.bcc && { bcc: message.bcc.map(formatted) }),
		...(message.cc && { cc: message.cc.map(formatted) }),
		from: formatted(message.from),
		headers,
		html: message.html,
		reply_to: replyTo,
		// Resend refuses an empty one.
		subject: message.subject || '(no subject)',
		tags: [
			{ name: 'email_id', value: tagValue(message.emailId) },
			{ name: 'project_id', value: tagValue(message.projectId) },
		],
		text: message.text,
		to: formatted(message.to),
	}
}

/** Resend takes several addresses only as a list. */
function replyToOf(value: string) {
	const addresses = replyAddresses(value) ?? []
	return addresses.length > 1 ? addresses.map(formatted) : value
}

function formatted({ email, name }: Address) {
	if (!name) return email
	const isPlain = /^[\p{L}\p{N} '_-]+$/u.test(name)
	return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${email}>`
}

/** Resend accepts ASCII letters, digits, underscores and dashes, at most 256. */
const tagValue = (value: string) => value.replace(/[^\w-]/g, '_').slice(0, 256)

/** Joins short parts, so that a small mail is one part. */
function* merged(parts: Iterable<string>) {
	let short = ''
	for (const part of parts) {
		short += part
		if (short.length < bytesAtOnce) continue
		yield short
		short = ''
	}
	if (short !== '') yield short
}
