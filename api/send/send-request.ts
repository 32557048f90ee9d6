import { dataProblems } from '../../db/contacts/contact-data.ts'
import { headerProblems } from '../../mail/mime/headers.ts'
import { perform } from '../../mail/rendering.ts'
import Type from 'typebox'
import { type FieldError, invalid } from '../errors.ts'
import { laterNames, misnamedMembers } from '../requests/misnamed.ts'
import { Delivery, msOf, throttleProblems, timeOf, timeProblems } from './send-delivery.ts'
import { maxMessageBytes } from './send-effort.ts'
import { addressOf, recipientsIn } from './send-addresses.ts'
import { Attachment, type FileLimits, fileProblems, filesOf, type SendFiles } from './send-files.ts'
import { about, Component, Email, Id, Line, normalizeEmail } from '../schemas.ts'
import { copiesOf, type CopyRequest, copyProblems, mostCopies } from './send-copies.ts'

const Named = Component('MailAddress', {
	name: Type.Optional(about('The name beside the address.', Line({ maxLength: 255 }))),
	email: about('The address.', Email),
})
const Recipient = Type.Union([Email, Named])

const Copies = (description: string) =>
	Type.Union([Recipient, Type.Array(Recipient, { maxItems: mostCopies })], { description })

const tagWord = {
	minLength: 1,
	maxLength: 256,
	pattern: '^[A-Za-z0-9_-]+$',
	'x-message': 'must have only letters, digits, _ and -',
}
const Tag = Component('Tag', {
	name: Type.String({ ...tagWord, description: 'The name of the tag.' }),
	value: Type.String({ ...tagWord, description: 'The value of the tag.' }),
})
const mostTags = 50

export const example = {
	to: { name: 'Anna', email: 'anna@example.org' },
	from: { name: 'Example', email: 'hello@example.com' },
	subject: 'Your order {{ order }}',
	body: '<p>Dear {{ name }}, your order {{ order }} is on its way.</p>',
	data: { plan: 'pro', order: { value: 1234, persistent: false } },
}

export const SendBody = Type.Object(
	{
		to: Type.Union([Recipient, Type.Array(Recipient, { minItems: 1, maxItems: 1000 })], {
			description: 'One recipient or up to 1,000, each an address or { name, email }',
		}),
		cc: Type.Optional(
			Copies(
				`Further readers of the same mail, whom its readers see. Only with one recipient in \`to\`; at most ${mostCopies} in cc and bcc together.`,
			),
		),
		bcc: Type.Optional(
			Copies('Further readers of the same mail, whom its readers do not see. As for cc.'),
		),
		subject: Type.Optional(
			about(
				'A Liquid template. Required without a template; overrides the one of the template.',
				Line({ minLength: 1, maxLength: 998 }),
			),
		),
		body: Type.Optional(
			Type.String({
				minLength: 1,
				description:
					'HTML, a Liquid template. Required without a template; overrides the one of the template.',
			}),
		),
		text: Type.Optional(
			Type.String({
				minLength: 1,
				description:
					'The text part, a Liquid template. Left out, it is made from the body. Without body and template it is the whole content.',
			}),
		),
		template: Type.Optional(
			about(
				'The template that supplies what the request leaves out. A MARKETING template is sent only to contacts who have subscribed.',
				Id,
			),
		),
		render: Type.Optional(
			Type.Boolean({ description: 'false sends subject and body unchanged, including braces' }),
		),
		from: Type.Optional(
			about(
				'The sender. Required unless the template has one; its domain must be verified.',
				Recipient,
			),
		),
		name: Type.Optional(
			about(
				'Deprecated: give `from` as { name, email }. The sender’s name where `from` is an address.',
				Line({ maxLength: 255 }),
			),
		),
		subscribed: Type.Optional(
			Type.Boolean({
				description:
					'Subscribes or unsubscribes the recipients. Left out, contacts stay as they are and new ones are not subscribed.',
			}),
		),
		data: Type.Optional(
			Type.Record(Type.String(), Type.Unknown(), {
				description:
					'Variables of the templates, which are also stored on the contact. A null deletes a field, an empty string is ignored, and { value, persistent: false } is used for this mail only.',
			}),
		),
		headers: Type.Optional(
			Type.Record(Type.String(), Type.String(), {
				description: 'Headers of the mail, by name. At most 50.',
			}),
		),
		reply: Type.Optional(about('The address for replies.', Email)),
		tags: Type.Optional(
			Type.Array(Tag, {
				maxItems: mostTags,
				description: `Your own names and values, returned with the mail. At most ${mostTags}.`,
			}),
		),
		delivery: Type.Optional(about('When the mail is sent, and whether again.', Delivery)),
		attachments: Type.Optional(
			Type.Array(Attachment, {
				description: 'At most 10 files of 10 MB in total, unless this installation allows more.',
			}),
		),
	},
	{ examples: [example] },
)
export type SendBody = Type.Static<typeof SendBody>

/** What other services and other parts of this one call our members: docs/sending.md lists them. */
const misnamed = misnamedMembers(SendBody, {
	to: ['recipient', 'recipients', 'toEmail', 'toName', 'toAddress', 'toAddresses'],
	from: ['sender', 'senderName', 'senderEmail', 'fromEmail', 'fromName', 'fromAddress'],
	body: ['html', 'htmlBody', 'bodyHtml', 'htmlContent', 'htmlPart', 'content', 'message', 'react'],
	text: ['textBody', 'bodyText', 'plain', 'plainText', 'textContent', 'textPart'],
	template: ['templateId', 'templateUuid', 'templateAlias'],
	reply: ['replyTo', 'replyToAddress', 'replyToAddresses'],
	data: [
		'variables',
		'templateData',
		'templateModel',
		'dynamicTemplateData',
		'params',
		'mergeVars',
		'substitutions',
	],
	subscribed: ['subscribe', 'isSubscribed'],
	headers: ['header', 'customHeaders'],
	tags: ['tag', 'category', 'categories', 'labels', 'metadata', 'customArgs'],
	attachments: ['attachment', 'files'],
	'delivery.at': laterNames,
	'delivery.throttle': ['throttle', 'rateLimit'],
	'delivery.throttleKey': ['throttleKey'],
	cc: ['carbonCopy', 'ccAddresses', 'ccRecipients'],
	bcc: ['blindCarbonCopy', 'bccAddresses', 'bccRecipients'],
	'the header Idempotency-Key': ['idempotencyKey'],
})

/** The request with its alternatives resolved. */
export interface SendRequest {
	/** `field` is the recipient's place in the request: `to`, or `to.1` in a list. */
	recipients: { field: string; email: string; name: string | null }[]
	copies: CopyRequest[]
	from: { email: string; name: string | null } | null
	replyTo: string | null
	tags: { name: string; value: string }[]
	/** null: now. */
	scheduledFor: Date | null
	/** How long nobody gets the same again; null: for no time. */
	throttleMs: number | null
	throttleKey: string | null
	files: SendFiles
}

/**
 * Finds everything that the message alone shows to be wrong: the schema's faults, and faults that a schema
 * can't express in its valid members.
 */
export async function readSend(
	projectId: string,
	body: SendBody,
	limits: FileLimits,
	faults: FieldError[],
): Promise<{ wanted: SendRequest } | { problems: FieldError[] }> {
	const isSound = (...fields: (keyof SendBody)[]) =>
		!faults.some(({ field }) => field === '' || fields.some((f) => `${field}.`.startsWith(`${f}.`)))
	const problems = [...faults, ...misnamed(body)]
	if (isSound('template', 'subject', 'body', 'text') && !body.template)
		problems.push(...missingContent(body))
	if (isSound('template', 'from') && !body.template && body.from === undefined)
		problems.push({ field: 'from', message: 'is required', code: 'required' })
	const texts = (['subject', 'body', 'text'] as const).flatMap((part) => {
		const value = isSound(part) && body[part]
		// Like a subject, a text is not escaped.
		const kind = part === 'body' ? ('body' as const) : ('subject' as const)
		return value ? { value, kind, field: part } : []
	})
	problems.push(
		...texts.filter(({ value }) => isTooBig(value)).map(({ field }) => tooBigText(field)),
	)
	if (texts.length > 0 && body.render !== false) {
		const templates = texts.filter(({ value }) => !isTooBig(value))
		problems.push(...(await perform(projectId, 'problems', templates)))
	}
	const files = isSound('attachments') ? filesOf(body.attachments) : []
	const recipients = isSound('to') ? recipientsOf(body) : []
	const copies = isSound('cc', 'bcc') ? copiesOf(body) : []
	const found = problems.concat(
		isSound('to') ? copyProblems(recipients, copies) : [],
		isSound('data') && body.data ? dataProblems(body.data) : [],
		isSound('headers') && body.headers ? headerProblems(body.headers) : [],
		isSound('delivery')
			? [
					...timeProblems(body.delivery?.at),
					...throttleProblems(body.delivery, Boolean(body.template)),
				]
			: [],
		fileProblems(files, limits),
	)
	if (found.length > 0) return { problems: found }
	return {
		wanted: {
			recipients,
			copies,
			from: senderOf(body),
			replyTo: body.reply === undefined ? null : normalizeEmail(body.reply),
			scheduledFor: timeOf(body.delivery?.at),
			throttleMs: body.delivery?.throttle ? msOf(body.delivery.throttle) : null,
			throttleKey: body.delivery?.throttleKey ?? null,
			tags: (body.tags ?? []).map(({ name, value }) => ({ name, value })),
			files,
		},
	}
}

/** Reported under the name of each missing member, and of the template that would supply it. */
function missingContent(body: SendBody): FieldError[] {
	const missing = (['subject', 'body'] as const).filter(
		(part) => !body[part] && !(part === 'body' && body.text),
	)
	if (missing.length === 0) return []
	return [
		...missing.map((field) => ({
			field,
			message: 'is required without a template',
			code: 'required' as const,
		})),
		{
			field: 'template',
			message: 'is required unless both subject and body are given',
			code: 'custom',
		},
	]
}

export const maxProblems = 100

export function refused(problems: FieldError[]) {
	const error = invalid(...problems)
	if (problems.some(({ code }) => code === 'template_syntax'))
		error.extras.suggestion =
			'Correct the template, or pass render: false if subject and body are ready and their braces are meant as they are.'
	return error
}

const isTooBig = (text: string) => Buffer.byteLength(text) > maxMessageBytes
const tooBigText = (field: string): FieldError => ({
	field,
	message: 'makes the message larger than 40 MB',
	code: 'too_big',
})

const recipientsOf = ({ to }: SendBody) => recipientsIn('to', to)

function senderOf({ from, name }: SendBody) {
	if (from === undefined) return null
	return addressOf(typeof from === 'string' ? { email: from, name } : from)
}
