import { domainToASCII } from 'node:url'
import type { Address } from '../message.ts'
import type { Problem } from '../problem.ts'

/** Reserved headers: they identify the mail, name its sender or describe its structure. */
export const protectedHeaders: ReadonlySet<string> = new Set([
	'from',
	'to',
	'cc',
	'bcc',
	'sender',
	'return-path',
	'subject',
	'message-id',
	'mime-version',
	'content-type',
	'content-transfer-encoding',
	'dkim-signature',
	'x-tempost-id',
])

const maxHeaders = 50
const maxTotalBytes = 100 * 1024
const maxNameLength = 255
const maxValueLength = 998
const maxReplyAddresses = 20
const lineLength = 76
// RFC 5322 allows 998. The rest is reserved for the header's name and the space of a fold.
const maxUnbrokenLength = 700

// oxlint-disable-next-line no-control-regex
const breaks = /[\r\n\u0000]/
const printable = /^[\t\u0020-\u007e]*$/
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** The faults in a request's custom headers, by field. */
export function headerProblems(headers: Record<string, unknown>, field = 'headers'): Problem[] {
	const entries = Object.entries(headers)
	if (entries.length > maxHeaders)
		return [{ field, message: `must have at most ${maxHeaders} headers`, code: 'too_big' }]
	if (Buffer.byteLength(JSON.stringify(headers)) > maxTotalBytes)
		return [{ field, message: 'must have at most 100 KB together', code: 'too_big' }]
	return entries.flatMap(([name, value]) => {
		const problem = headerProblem(name, value)
		return problem ? [{ field: `${field}.${name}`, ...problem }] : []
	})
}

function headerProblem(name: string, value: unknown): Omit<Problem, 'field'> | null {
	if (name === '') return { message: 'must have a name', code: 'too_small' }
	if (name.length > maxNameLength) {
		return { message: `must have a name of at most ${maxNameLength} characters`, code: 'too_big' }
	}
	if (!token.test(name)) return { message: 'is not the name of a header', code: 'invalid_string' }
	if (protectedHeaders.has(name.toLowerCase())) {
		return { message: 'cannot be set by a custom header', code: 'custom' }
	}
	if (typeof value !== 'string') return { message: 'must be a string', code: 'invalid_type' }
	if (value.length > maxValueLength) {
		return { message: `must have at most ${maxValueLength} characters`, code: 'too_big' }
	}
	if (breaks.test(value)) {
		return { message: 'must not contain line breaks or NUL', code: 'invalid_string' }
	}
	if (isReplyTo(name) && !replyAddresses(value)) {
		return {
			message: `must be an address, with or without a name, or up to ${maxReplyAddresses} with commas between them`,
			code: 'invalid_string',
		}
	}
	return null
}

export const isReplyTo = (name: string) => name.toLowerCase() === 'reply-to'

/**
 * The addresses of a custom Reply-To; null if it has anything else. An encoded word may contain a display name, but
 * never the address behind it.
 */
export function replyAddresses(value: string): Address[] | null {
	const addresses: Address[] = []
	let rest = value
	while ((rest = rest.replace(/^[\s,]+/, '')) !== '') {
		const [found, bare, phrase = '', email = bare] = firstAddress.exec(rest) ?? []
		const address = email === undefined ? null : addressOf(email, phrase)
		if (!address || addresses.length === maxReplyAddresses) return null
		addresses.push(address)
		rest = rest.slice(found!.length)
	}
	return addresses.length > 0 ? addresses : null
}

/** By itself, or between < and > after a name, which may contain commas. */
const firstAddress = /^(?:([^\s<>,"@]+@[^\s<>,"@]+)|([^<>]*)<([^<>]+)>)\s*(?=,|$)/

/** Its author has encoded the names in it, so it is ready. */
export const isEncoded = (value: string) => value.includes('=?') && printable.test(value)

function addressOf(email: string, phrase: string): Address | null {
	try {
		const ascii = asciiDomain(email.trim())
		return printable.test(ascii) ? { email: ascii, name: unquoted(phrase.trim()) } : null
	} catch {
		return null
	}
}

const unquoted = (phrase: string) =>
	phrase.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1') || null

/** A header of free text, encoded and folded, with its line break. */
export function textHeader(name: string, value: string): string {
	refuseBreaks(name, value)
	if (!isPlain(value)) return `${name}: ${encodeWords(value, name.length + 2)}\r\n`
	return `${name}: ${fold(value, name.length + 2)}\r\n`
}

/** Headers whose value is free text, besides those beginning with `X-`. The parts of all others have a meaning. */
const freeText = new Set(['subject', 'comments', 'keywords'])
const longestLine = 998

/**
 * A customer's header. An encoded word would destroy a structured value, such as a list of addresses, in which spaces
 * mean nothing.
 */
export function givenHeader(name: string, value: string): string {
	const lower = name.toLowerCase()
	if (freeText.has(lower) || lower.startsWith('x-') || !printable.test(value))
		return textHeader(name, value)
	const folded = fold(value.trim().replaceAll(/\s+/g, ' '), name.length + 2)
	const isTooLong = name.length + 2 + folded.split('\r\n', 1)[0]!.length > longestLine
	return `${name}:${isTooLong ? '\r\n ' : ' '}${folded}\r\n`
}

/** A header that contains an address. */
export function addressHeader(name: string, address: Address): string {
	refuseBreaks(name, address.email)
	refuseBreaks(name, address.name ?? '')
	const email = asciiDomain(address.email)
	if (!address.name?.trim()) return `${name}: ${email}\r\n`
	const phrase = encodePhrase(address.name.trim(), name.length + 2)
	const lastLine = phrase.length - phrase.lastIndexOf('\n') - 1
	const used = phrase.includes('\n') ? lastLine : name.length + 2 + lastLine
	const gap = used + email.length + 3 > lineLength ? '\r\n ' : ' '
	return `${name}: ${phrase}${gap}<${email}>\r\n`
}

/** The same for several addresses, each on a line of its own. */
export const addressesHeader = (name: string, addresses: Address[]) =>
	addresses
		.map((address) => addressHeader(name, address).slice(0, -2))
		.map((line, index) => (index === 0 ? line : ` ${line.slice(name.length + 2)}`))
		.join(',\r\n') + '\r\n'

/** `; name="value"`, encoded as in RFC 2231 if the value is not ASCII. */
export function parameter(name: string, value: string): string {
	refuseBreaks(name, value)
	if (/^[\u0020-\u007e]*$/.test(value) && !value.includes('=?')) {
		return `;\r\n ${name}="${value.replaceAll(/["\\]/g, '\\$&')}"`
	}
	const pieces = ['']
	for (const char of value.toWellFormed()) {
		const encoded = encodeURIComponent(char).replaceAll(/['()*!]/g, percent)
		if (pieces.at(-1)!.length + encoded.length > 60) pieces.push('')
		pieces[pieces.length - 1] += encoded
	}
	if (pieces.length === 1) return `;\r\n ${name}*=UTF-8''${pieces[0]}`
	return pieces
		.map((piece, index) => `;\r\n ${name}*${index}*=${index === 0 ? "UTF-8''" : ''}${piece}`)
		.join('')
}

/** Converts the domain to ASCII. The local part stays as it is, in UTF-8 if necessary (SMTPUTF8). */
export function asciiDomain(email: string): string {
	if (/[\s<>,;"]/.test(email))
		throw new Error('An address contains characters that are not allowed')
	const at = email.lastIndexOf('@')
	if (at < 1) throw new Error('An address needs an @')
	if (at === email.length - 1) throw new Error('An address needs a domain')
	const domain = email.slice(at + 1)
	if (printable.test(domain)) return email
	const ascii = domainToASCII(domain)
	if (ascii === '') throw new Error('An address has no valid domain')
	return `${email.slice(0, at)}@${ascii}`
}

export function refuseBreaks(name: string, value: string) {
	// Input was checked before. A line break here would let someone inject headers.
	if (breaks.test(value)) throw new Error(`${name} must not contain line breaks or NUL`)
}

function encodePhrase(name: string, column: number) {
	if (!isPlain(name)) return encodeWords(name, column)
	if (/^[\w!#$%&'*+\-/=?^`{|}~ ]+$/.test(name)) return fold(name, column)
	return fold(`"${name.replaceAll(/["\\]/g, '\\$&')}"`, column)
}

/** Whether a value survives unchanged: no reader would trim, decode or collapse any part of it. */
function isPlain(value: string) {
	return (
		printable.test(value) &&
		!value.includes('=?') &&
		!/^\s|\s$|\s\s|\t/.test(value) &&
		!(value.length > maxUnbrokenLength && /\S{700}/.test(value))
	)
}

function fold(value: string, column: number) {
	if (column + value.length <= lineLength) return value
	let folded = ''
	for (const word of value.split(' ')) {
		if (folded === '') folded = word
		else if (column + 1 + word.length > lineLength) {
			folded += `\r\n ${word}`
			column = 1 + word.length
			continue
		} else folded += ` ${word}`
		column += 1 + word.length
	}
	return folded
}

/** RFC 2047: words of at most 75 characters, without splitting code points. */
function encodeWords(value: string, column: number) {
	const text = value.toWellFormed()
	// oxlint-disable-next-line no-control-regex
	const foreign = Buffer.byteLength(text.replaceAll(/[\u0000-\u007f]/g, ''))
	const encoding = foreign * 3 > text.length ? 'B' : 'Q'
	const room = lineLength - '=?UTF-8?Q??='.length - 1
	const words: string[] = []
	let word = ''
	let width = 0
	let left = room - column
	for (const char of text) {
		// Base64 is counted per word: four characters for every three bytes or part of them.
		const encoded = encoding === 'Q' ? encodeQ(char) : char
		const size = encoding === 'Q' ? encoded.length : Buffer.byteLength(char)
		const next = encoding === 'Q' ? width + size : Math.ceil((width + size) / 3) * 4
		if (next > left) {
			words.push(word)
			word = ''
			width = 0
			left = room
		}
		word += encoded
		width += size
	}
	words.push(word)
	return words
		.map((word) => (encoding === 'Q' || word === '' ? word : Buffer.from(word).toString('base64')))
		.map((word) => (word === '' ? '' : `=?UTF-8?${encoding}?${word}?=`))
		.join('\r\n ')
}

/** Leaves only characters that are safe even within a display name. */
function encodeQ(char: string) {
	if (/[\w!*+\-/]/.test(char) && char !== '_') return char
	if (char === ' ') return '_'
	return Buffer.from(char).toString('hex').toUpperCase().replaceAll(/../g, '=$&')
}

function percent(char: string) {
	return `%${char.charCodeAt(0).toString(16).toUpperCase()}`
}
