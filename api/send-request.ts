import { dataProblems } from '../activities/rendering/contact-data.ts'
import { headerProblems } from '../activities/rendering/headers.ts'
import { templateProblem } from '../activities/rendering/liquid.ts'
import Type from 'typebox'
import { type FieldError, invalid } from './errors.ts'
import { Email, Id, isEmail, Line, normalizeEmail } from './schemas.ts'

const Named = Type.Object({ name: Type.Optional(Line({ maxLength: 255 })), email: Type.String() })
const Recipient = Type.Union([Type.String(), Named])

const Attachment = Type.Object({
	filename: Type.String({
		minLength: 1,
		maxLength: 255,
		pattern: '^[^"\\r\\n\\0]*$',
		'x-message': 'must not contain quotes or line breaks',
	}),
	content: Type.String({ minLength: 1, description: 'The file, in base64' }),
	contentType: Type.String({
		minLength: 1,
		maxLength: 255,
		pattern: '^[\\w!#$&^.+-]+/[\\w!#$&^.+-]+( *;[ -~]*)?$',
		'x-message': 'must be a media type such as application/pdf',
	}),
	contentId: Type.Optional(
		Type.String({
			minLength: 1,
			maxLength: 255,
			pattern: '^[^<>\\s]*$',
			'x-message': 'must not contain <, >, spaces or line breaks',
		}),
	),
	disposition: Type.Optional(Type.Union([Type.Literal('attachment'), Type.Literal('inline')])),
})

export const SendBody = Type.Object({
	to: Type.Union([Recipient, Type.Array(Recipient, { minItems: 1, maxItems: 1000 })], {
		description: 'One recipient or up to 1,000, each an address or { name, email }',
	}),
	subject: Type.Optional(Line({ minLength: 1, maxLength: 998 })),
	body: Type.Optional(Type.String({ minLength: 1, description: 'HTML, a Liquid template' })),
	template: Type.Optional(Id),
	from: Type.Optional(Type.Union([Email, Named])),
	name: Type.Optional(Line({ maxLength: 255 })),
	subscribed: Type.Optional(Type.Boolean()),
	data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
	headers: Type.Optional(Type.Record(Type.String(), Type.String())),
	reply: Type.Optional(Email),
	attachments: Type.Optional(Type.Array(Attachment)),
})
export type SendBody = Type.Static<typeof SendBody>

export interface SendLimits {
	attachmentsMaxCount: number
	attachmentsMaxMb: number
}

const maxMessageBytes = 40 * 2 ** 20

/** The request with its alternatives resolved. */
export interface SendRequest {
	recipients: { email: string; name: string | null }[]
	from: { email: string; name: string | null } | null
	files: ReturnType<typeof filesOf>
}

/** Everything that can be refused by looking at the request alone. */
export function readSend(body: SendBody, limits: SendLimits): SendRequest {
	const problems: FieldError[] = []
	const files = filesOf(body)
	const recipients = recipientsOf(body, problems)
	const from = senderOf(body, problems)
	if (!body.template && !(body.subject && body.body))
		problems.push({
			field: 'template',
			message: 'must be given unless both subject and body are',
			code: 'custom',
		})
	if (!body.template && !from && !problems.some(({ field }) => field.startsWith('from')))
		problems.push({ field: 'from', message: 'is required', code: 'required' })
	for (const [field, kind] of [
		['subject', 'subject'],
		['body', 'body'],
	] as const) {
		const problem = body[field] && templateProblem(body[field], kind, field)
		if (problem) problems.push(problem)
	}
	if (body.data) problems.push(...dataProblems(body.data))
	if (body.headers) problems.push(...headerProblems(body.headers))
	problems.push(...fileProblems(body, files, limits))
	if (problems.length > 0) throw invalid(...problems)
	return { recipients, from, files }
}

function recipientsOf({ to }: SendBody, problems: FieldError[]) {
	const several = Array.isArray(to)
	return (several ? to : [to]).map((recipient, index) => {
		const field = several ? `to.${index}` : 'to'
		const isText = typeof recipient === 'string'
		const email = isText ? recipient : recipient.email
		checkEmail(email, isText ? field : `${field}.email`, problems)
		return { email: normalizeEmail(email), name: isText ? null : recipient.name?.trim() || null }
	})
}

function senderOf({ from, name }: SendBody, problems: FieldError[]) {
	if (from === undefined) return null
	const isText = typeof from === 'string'
	const email = isText ? from : from.email
	checkEmail(email, isText ? 'from' : 'from.email', problems)
	return { email: normalizeEmail(email), name: (isText ? name : from.name)?.trim() || null }
}

function checkEmail(email: string, field: string, problems: FieldError[]) {
	if (!isEmail(email))
		problems.push({
			field,
			message: 'must be an e-mail address',
			code: 'invalid_string',
			received: email.slice(0, 100),
		})
}

function filesOf({ attachments = [] }: SendBody) {
	return attachments.map(({ content, contentId, disposition, ...file }, position) => {
		const base64 = /\s/.test(content) ? content.replaceAll(/\s+/g, '') : content
		const size = Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
		const inline = disposition === 'inline'
		return { ...file, position, inline, contentId: contentId ?? null, content: base64, size }
	})
}

function fileProblems(
	{ body = '' }: SendBody,
	files: ReturnType<typeof filesOf>,
	{ attachmentsMaxCount, attachmentsMaxMb }: SendLimits,
) {
	const problems: FieldError[] = []
	for (const { content, contentId, inline, position } of files) {
		if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content))
			problems.push({
				field: `attachments.${position}.content`,
				message: 'must be base64',
				code: 'invalid_string',
			})
		if (inline && !contentId)
			problems.push({
				field: `attachments.${position}.contentId`,
				message: 'is required for an inline attachment: the body refers to it as cid:…',
				code: 'required',
			})
	}
	if (files.length > attachmentsMaxCount)
		problems.push({
			field: 'attachments',
			message: `must be at most ${attachmentsMaxCount}`,
			code: 'too_big',
			received: files.length,
		})
	const bytes = files.reduce((sum, { size }) => sum + size, 0)
	if (bytes > attachmentsMaxMb * 2 ** 20)
		problems.push({
			field: 'attachments',
			message: `must be at most ${attachmentsMaxMb} MB together`,
			code: 'too_big',
			received: bytes,
		})
	// In the mail they are base64 again, in lines of 76 characters.
	else if (bytes * 1.37 + Buffer.byteLength(body) > maxMessageBytes)
		problems.push({
			field: bytes > Buffer.byteLength(body) ? 'attachments' : 'body',
			message: 'makes the message larger than 40 MB',
			code: 'too_big',
		})
	return problems
}
