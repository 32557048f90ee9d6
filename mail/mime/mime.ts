// Ours, not nodemailer's composer: 0.07 ms a mail instead of 1.6 ms, and the same bytes at every try.

import {
	addressesHeader,
	addressHeader,
	isEncoded,
	isReplyTo,
	parameter,
	protectedHeaders,
	refuseBreaks,
	replyAddresses,
	givenHeader,
	textHeader,
} from './headers.ts'
import type { Attachment, Message } from '../message.ts'
import { exceeded, renderLimits } from '../render-limits.ts'
import { base64Lines, quotedPrintable } from './transfer-encoding.ts'

/** A part of a mail: its headers, and its content ready for the wire. */
interface Part {
	head: string
	content: Buffer[]
}

type Encode = (text: string, subtype: 'plain' | 'html') => Buffer

/**
 * The mail for the wire; no line starts with a dot. The same message always gives the same bytes. Throws
 * when a value would break out of its header, although earlier checks should have refused it. `encode`
 * converts a text to quoted-printable.
 */
export function buildMime(message: Message, encode: Encode = quotedPrintable): Buffer {
	if (lengthOf(message) > renderLimits().encodedLength) throw exceeded('the mail is too long')
	const { head, content } = body(message, encode)
	return Buffer.concat([Buffer.from(`${headersOf(message)}${head}\r\n`), ...content])
}

const lengthOf = ({ html, text, attachments }: Message) =>
	attachments.reduce((sum, { content }) => sum + content.length, html.length + text.length)

function headersOf(message: Message) {
	const custom = Object.entries(message.headers)
	const replaced = new Set(custom.map(([name]) => name.toLowerCase()))
	const { from, to, replyTo, subject, date, messageId, emailId } = message
	let lines = addressHeader('From', from) + addressHeader('To', to)
	if (message.cc) lines += addressesHeader('Cc', message.cc)
	if (!replaced.has('reply-to')) {
		lines += addressHeader('Reply-To', { email: replyTo ?? from.email, name: null })
	}
	lines += textHeader('Subject', subject)
	if (!replaced.has('date')) {
		lines += dateHeader(date)
	}
	lines += identifier('Message-ID', messageId) + identifier('X-Tempost-Id', emailId)
	for (const [name, value] of custom) lines += customHeader(name, value)
	return `${lines}MIME-Version: 1.0\r\n`
}

export const dateHeader = (date: Date) => `Date: ${date.toUTCString().replace('GMT', '+0000')}\r\n`

function customHeader(name: string, value: string) {
	if (protectedHeaders.has(name.toLowerCase()) || !/^[!-9;-~]+$/.test(name)) {
		throw new Error('A custom header has a name that is not allowed')
	}
	const addresses = isReplyTo(name) && !isEncoded(value) ? replyAddresses(value) : null
	return addresses ? addressesHeader(name, addresses) : givenHeader(name, value)
}

/** Never folded or encoded, because machines compare these byte by byte. */
function identifier(name: string, value: string) {
	refuseBreaks(name, value)
	return `${name}: ${value}\r\n`
}

function body(message: Message, encode: Encode): Part {
	const inline = message.attachments.filter((file) => file.disposition === 'inline')
	const attached = message.attachments.filter((file) => file.disposition !== 'inline')
	const html = textPart('html', encode(message.html, 'html'))
	const shown =
		inline.length > 0 ? multipart('related', message, [html, ...inline.map(file)]) : html
	const plain = textPart('plain', encode(message.text, 'plain'))
	const alternative = multipart('alternative', message, [plain, shown])
	if (attached.length === 0) return alternative
	return multipart('mixed', message, [alternative, ...attached.map(file)])
}

function textPart(subtype: 'plain' | 'html', encoded: Buffer): Part {
	const head =
		`Content-Type: text/${subtype}; charset=utf-8\r\n` +
		'Content-Transfer-Encoding: quoted-printable\r\n'
	return { head, content: [encoded] }
}

function file({ filename, content, contentType, contentId, disposition }: Attachment): Part {
	let head = `Content-Type: ${mediaType(contentType)}\r\nContent-Transfer-Encoding: base64\r\n`
	head += `Content-Disposition: ${disposition}${parameter('filename', filename)}\r\n`
	if (contentId !== null) head += identifier('Content-ID', `<${asciiId(contentId)}>`)
	return { head, content: [base64Lines(content)] }
}

/** Between two parts. No line of quoted-printable or base64 can start like this. */
export const partStart = '\r\n--=_'

function multipart(subtype: string, message: Message, parts: Part[]): Part {
	const boundary = `=_${subtype}_${message.messageId.replaceAll(/[^\w.-]/g, '').slice(0, 50)}`
	const type = subtype === 'related' ? `${subtype}; type="text/html"` : subtype
	return {
		head: `Content-Type: multipart/${type};\r\n boundary="${boundary}"\r\n`,
		content: [
			...parts.flatMap(({ head, content }) => [
				Buffer.from(`--${boundary}\r\n${head}\r\n`),
				...content,
				lineBreak,
			]),
			Buffer.from(`--${boundary}--\r\n`),
		],
	}
}

const lineBreak = Buffer.from('\r\n')

/** A value that is no media type, or a type that may not use base64, becomes a plain file. */
function mediaType(contentType: string) {
	refuseBreaks('Content-Type', contentType)
	const isMediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;[\u0020-\u007e]*)?$/.test(contentType)
	const isContainer = /^(?:multipart|message)\//i.test(contentType)
	return isMediaType && !isContainer ? contentType : 'application/octet-stream'
}

function asciiId(contentId: string) {
	refuseBreaks('Content-ID', contentId)
	if (/[<>]/.test(contentId)) throw new Error('A Content-ID must not contain < or >')
	return /^[!-~]*$/.test(contentId) ? contentId : encodeURI(contentId.toWellFormed())
}
