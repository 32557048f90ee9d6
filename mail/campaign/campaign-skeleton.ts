import { demandsOn } from './campaign-demands.ts'
import { decodeEntities } from '../text/entities.ts'
import { addressHeader, textHeader } from '../mime/headers.ts'
import type { Message } from '../message.ts'
import { buildMime, dateHeader } from '../mime/mime.ts'
import { quotedPrintable } from '../mime/transfer-encoding.ts'

// A campaign's mails differ only in a few places. The text between them is encoded once, and each mail is
// assembled from it and its own values. A soft line break on both sides of a value makes the encoding of
// each piece independent of the text before it.

/** Stand-ins for the ids of mail and contact. They are valid ids, so that all code treats them as such. */
export const standIn = {
	emailId: 'eeeeeeee-dead-7eef-8eee-c0ffeec0ffee',
	contactId: 'cccccccc-dead-7eef-8ccc-c0ffeec0ffee',
	to: 'stand-in@recipient.invalid',
	subject: 'stand-in of the subject',
	date: new Date(0),
}

/** The personal parts of a mail. */
export interface Personal {
	emailId: string
	contactId: string
	to: string
	subject: string
	createdAt: Date
	values: string[]
}

export interface Skeleton {
	/** The whole mail, one character per byte; null when a value does not fit its place. */
	fill(personal: Personal): string | null
	/** The memory that it takes, roughly. */
	bytes: number
}

/**
 * Makes a skeleton from a message in which ids are stand-ins and values are marks. Null if the values
 * affect more than their own place. `body` is the body from which the message was composed.
 */
export function skeletonOf(message: Message, body: string): Skeleton | null {
	const demands = demandsOn(body)
	if (!demands) return null
	const { to, subject, date } = standIn
	const model = { ...message, to: { email: to, name: null }, subject, date }
	const wire = buildMime(model, encodeMarked).toString('latin1')
	const pieces: string[] = []
	const slots: number[] = []
	let at = 0
	for (const { 0: found, index, groups } of wire.matchAll(slotPattern)) {
		pieces.push(wire.slice(at, index))
		slots.push(slotOf(found, groups))
		at = index + found.length
	}
	const last = wire.slice(at)
	const count = slots.length

	return {
		bytes: wire.length,
		fill(personal) {
			const { values } = personal
			for (const { index, fits } of demands) if (!fits.test(values[index]!)) return null
			const inserts = insertsOf(personal)
			let filled = ''
			for (let i = 0; i < count; i++) filled += pieces[i]! + inserts[slots[i]!]!
			return filled + last
		},
	}
}

const slotPattern = new RegExp(
	String.raw`\x01(?<part>[hp])(?<index>\d+)\x02|${standIn.emailId}|${standIn.contactId}` +
		String.raw`|(?<=\r\n)(?<header>To|Subject|Date): (?:${standIn.to}|${standIn.subject}|Thu, 01 Jan 1970 00:00:00 \+0000)\r\n`,
	'g',
)
const headers = ['To', 'Subject', 'Date']
/** Ids and headers come first among the inserts; values follow. */
const firstValue = 2 + headers.length

function slotOf(found: string, groups: Record<string, string> | undefined) {
	const { part, index, header } = groups ?? {}
	if (header) return 2 + headers.indexOf(header)
	if (part) return firstValue + 2 * Number(index) + (part === 'h' ? 0 : 1)
	return found === standIn.emailId ? 0 : 1
}

function insertsOf({ emailId, contactId, to, subject, createdAt, values }: Personal) {
	const inserts = [
		emailId,
		contactId,
		addressHeader('To', { email: to, name: null }),
		textHeader('Subject', subject),
		dateHeader(createdAt),
	]
	// The local part of a recipient's address may contain more than ASCII (SMTPUTF8).
	if (foreign.test(to)) inserts[2] = Buffer.from(inserts[2]!).toString('latin1')
	for (const value of values) {
		if (simple.test(value)) inserts.push(value, value)
		else inserts.push(encode(value), encode(decodeEntities(value)))
	}
	return inserts
}

/** Values with the same form in HTML, text and quoted-printable. */
const simple = /^[\w,:;!?@%+*()/-][\w ,:;!?@%+*()/.-]{0,69}$/
const foreign = /[^ -~]/

const encode = (value: string) => quotedPrintable(value).toString('latin1')

const personal = new RegExp(`(\ue000\\d+\ue001|${standIn.emailId}|${standIn.contactId})`)

/** Encodes as quoted-printable, except for marks and ids, which stay unencoded between soft line breaks. */
function encodeMarked(text: string, subtype: 'plain' | 'html') {
	const pieces: string[] = []
	for (const [index, stretch] of text.split(personal).entries()) {
		if (index % 2 === 0) {
			if (stretch !== '') pieces.push(encode(stretch))
			continue
		}
		const slot = stretch.replace(/^\ue000(\d+)\ue001$/, `\x01${subtype[0]}$1\x02`)
		const isLineStart = pieces.at(-1)?.endsWith('\n') ?? true
		pieces.push(isLineStart ? '' : softBreak, slot, softBreak)
	}
	return Buffer.from(pieces.join(''), 'latin1')
}

const softBreak = '=\r\n'
