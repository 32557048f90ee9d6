import { isMainThread } from 'node:worker_threads'
import type { Mail } from '../../mail/compose.ts'
import { maxDataBytes, splitData } from '../../db/contacts/contact-data.ts'
import { takeTurn } from '../../db/event-loop.ts'
import { isTemplateError } from '../../mail/liquid/liquid.ts'
import { languageFor } from '../../mail/language.ts'
import type { Variables } from '../../mail/liquid/look-up.ts'
import { htmlOf } from '../../mail/mail-content.ts'
import { perform } from '../../mail/rendering.ts'
import { storableText } from '../../db/storable-text.ts'
import { linksFor, variablesFor } from '../../mail/liquid/variables.ts'
import type { SendContext } from '../../db/emails/acceptance-contexts.ts'
import { ApiError, type FieldError, invalid } from '../errors.ts'
import { normalizeEmail } from '../schemas.ts'
import { storedCopies } from './send-copies.ts'
import { type Effort, LargeMails } from './send-effort.ts'
import { giveName, type People, type Person } from './send-people.ts'
import type { SendBody, SendRequest } from './send-request.ts'

export interface Sender {
	project: { id: string; name: string; language: string; tracking: string }
	publicUrl: string
}

type PlannedMail = Pick<
	Mail,
	| 'contactId'
	| 'replyTo'
	| 'subject'
	| 'body'
	| 'text'
	| 'headers'
	| 'contentLanguage'
	| 'language'
	| 'type'
	| 'copies'
> & { id: string; from: string; fromName: string; to: string; toName: string | null }

export type PlannedMessage = Awaited<ReturnType<typeof planMessage>>

/** A message that can be sent, with the template that it uses. */
export interface SoundMessage {
	body: SendBody
	wanted: SendRequest
	template: SendContext['template']
}

interface Plan {
	sender: Sender
	people: People
	effort: Effort
	nextId: () => string
}

/** What became of one recipient, in their order. */
export interface MailOutcome {
	/** The mail's; of a recipient who was skipped, the earlier mail's. */
	id: string
	contactId: string
	to: string
	isThrottled: boolean
}

/**
 * Decides everything for the write of a message: its mails, and what its contacts become. It pauses, because data of many
 * fields takes some milliseconds each time it is copied.
 */
export async function planMessage(
	{ sender: { project, publicUrl }, people, effort, nextId }: Plan,
	{ body, wanted, template }: SoundMessage,
) {
	const { recipients, copies, from, replyTo, tags, scheduledFor, throttleKey, files } = wanted
	const { stored, removed, once } = splitData(body.data ?? {})
	const requestId = nextId()
	const sender = from ?? { email: normalizeEmail(template!.from), name: null }
	const fromName = sender.name || template?.from_name || project.name
	const templateReply = template?.reply_to ? normalizeEmail(template.reply_to) : null
	const render = rendererOf(project.id, body, template)

	await takeTurn()
	people.change(
		recipients.map(({ email }) => email),
		{ data: stored, removedKeys: removed, subscribed: body.subscribed ?? null },
		nextId,
	)
	const unwilling = recipients.filter(({ email }) => !people.get(email).subscribed)
	if (template?.type === 'MARKETING' && unwilling.length > 0) throw notSubscribed(unwilling)

	const headers = body.headers ?? {}
	const spend = effort.of(wanted, headers)
	const attachments =
		files.length > 0
			? files.map(({ filename, contentType, size }) => ({ filename, contentType, size }))
			: null
	const mails = []
	const outcomes: MailOutcome[] = []
	const checked = new Set<Person>()
	for (const { field, email, name } of recipients) {
		const contact = people.get(email)
		// One after the other: if an address is listed twice, the second mail uses the name from the first.
		const isNamed = name !== null && giveName(contact, name)
		if (isNamed || (body.data && !checked.has(contact))) checkSize(contact, field)
		checked.add(contact)
		const id = nextId()
		await takeTurn()
		const variables = variablesFor(contact, linksFor(publicUrl, contact.id, id), once)
		const { content, ms } = await render(variables)
		const mail = {
			id,
			contactId: contact.id,
			to: email,
			toName: name,
			copies: storedCopies(copies),
			from: sender.email,
			fromName,
			replyTo: replyTo ?? templateReply,
			...content,
			tags: tags.length > 0 ? tags : null,
			headers,
			contentLanguage: template?.language ?? project.language,
			language: languageFor(once['locale'] ?? contact.data['locale'], project.language),
			// Regardless of the template's type, because the caller requested this mail to this address.
			type: 'TRANSACTIONAL' as const,
			templateId: template?.id ?? null,
			attachments,
		}
		mails.push(mail)
		outcomes.push({ id, contactId: contact.id, to: email, isThrottled: false })
		const sizeOf = () => sizeOfMail(mail, files, project, publicUrl)
		await spend({ ...content, ms, sizeOf })
	}
	const needsConsent = template?.type === 'MARKETING'
	return {
		requestId,
		scheduledFor,
		needsConsent,
		throttleKey,
		mails,
		files,
		outcomes,
	}
}

/** The size of the mail as activities/delivery/composing.ts will compose it. */
const sizeOfMail = (
	mail: PlannedMail,
	files: SendRequest['files'],
	{ id: projectId, tracking }: Sender['project'],
	publicUrl: string,
) =>
	perform(projectId, 'messageSize', {
		mail: {
			...mail,
			emailId: mail.id,
			projectId,
			from: { email: mail.from, name: mail.fromName },
			to: { email: mail.to, name: mail.toName },
			createdAt: new Date(),
		},
		files: files.map(({ filename, contentType, contentId, inline, size }) => ({
			filename,
			contentType,
			contentId,
			size,
			disposition: inline ? 'inline' : 'attachment',
		})),
		publicUrl,
		isTracked: tracking === 'ENABLED' && !mail.copies,
	})

/** Making HTML of a longer text blocks the event loop noticeably. */
const mostTextOnLoop = 2 ** 16

/** Renders subject and body for one contact, or returns them unchanged for all. */
function rendererOf(
	projectId: string,
	{ subject, body, text, render }: SendBody,
	template: SendContext['template'],
) {
	const source = {
		subject: subject ?? template!.subject,
		body: body ?? template?.body ?? null,
		text: text ?? null,
	}
	if (render === false) {
		const plain = source.text === null ? null : storableText(source.text)
		if (isMainThread && source.body === null && plain!.length > mostTextOnLoop)
			throw new LargeMails('This text is large')
		const html = source.body === null ? htmlOf(plain ?? '') : storableText(source.body)
		const ready = { subject: storableText(source.subject), body: html, text: plain }
		return async () => ({ content: { ...ready, renderFault: null }, ms: 0 })
	}
	return (variables: Variables) => contentOf(projectId, source, variables)
}

/** The request's own texts were checked with it; a stored template may be older than our checks. */
async function contentOf(
	projectId: string,
	texts: { subject: string; body: string | null; text: string | null },
	variables: Variables,
) {
	try {
		return await perform(projectId, 'content', { ...texts, variables })
	} catch (error) {
		if (!isTemplateError(error)) throw error
		const [problem] = await perform(projectId, 'problems', [
			{ value: texts.subject, kind: 'subject', field: 'subject' },
			{ value: texts.body, kind: 'body', field: 'body' },
			{ value: texts.text, kind: 'subject', field: 'text' },
		])
		const { field, message, code } = problem!
		throw invalid({ field: 'template', message: `has a ${field} that ${message}`, code })
	}
}

/** Within the limit, or not larger than before. */
function checkSize({ email, data, oldData }: Person, field: string) {
	const bytes = bytesOf(data)
	if (bytes <= maxDataBytes || (oldData && bytes <= bytesOf(oldData))) return
	throw invalid({
		field: 'data',
		message: `makes the data of ${field} (${email}) larger than 64 KB in total`,
		code: 'too_big',
	})
}

const bytesOf = (data: Record<string, unknown>) => Buffer.byteLength(JSON.stringify(data))

function notSubscribed(recipients: SendRequest['recipients']) {
	const [{ email } = { email: '' }] = recipients
	const addresses = [...new Set(recipients.map(({ email }) => email))]
	const others = addresses.length > 1 ? ` (and ${addresses.length - 1} more)` : ''
	const errors = recipients.map(({ field, email }): FieldError => ({
		field,
		message: 'is not subscribed, and the template is MARKETING',
		code: 'custom',
		received: email,
	}))
	return new ApiError(
		400,
		'BAD_REQUEST',
		`${email}${others} is not subscribed, and the template is MARKETING`,
		{
			errors: errors.slice(0, 100),
			suggestion:
				'Leave the address out, pass subscribed: true if the person agreed, or use a TRANSACTIONAL template.',
		},
	)
}
