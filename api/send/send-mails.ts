import { maxDataBytes, splitData } from '../../activities/rendering/contact-data.ts'
import { isTemplateError } from '../../activities/rendering/liquid.ts'
import { languageFor } from '../../activities/rendering/language.ts'
import type { Variables } from '../../activities/rendering/look-up.ts'
import { perform } from '../../activities/rendering/rendering.ts'
import { storableText } from '../../activities/rendering/storable-text.ts'
import { linksFor, type Recipient, variablesFor } from '../../activities/rendering/variables.ts'
import type { SendContext } from '../../db/emails/acceptance.ts'
import { ApiError, type FieldError, invalid } from '../errors.ts'
import { normalizeEmail } from '../schemas.ts'
import { createEffort } from './send-effort.ts'
import type { SendBody, SendRequest } from './send-request.ts'

interface Sender {
	project: { id: string; name: string; language: string }
	publicUrl: string
}

/** The contact as it will be once this request is through. */
interface Person extends Recipient {
	/** What it had before. */
	oldData: Record<string, unknown> | null
	/** To be stored if it has none by then. */
	name: { name: string } | null
}

/** Everything that the write needs, decided: contacts, mails, and what becomes of the data. */
export async function planSend(
	body: SendBody,
	{ recipients, from, replyTo, files }: SendRequest,
	{ template, contacts, ids }: SendContext,
	{ project, publicUrl }: Sender,
) {
	const { stored, removed, once } = splitData(body.data ?? {})
	const freshIds = ids.values()
	const nextId = () => freshIds.next().value!
	const requestId = nextId()
	const sender = from ?? { email: normalizeEmail(template!.from), name: null }
	const fromName = sender.name ?? template?.from_name ?? project.name
	const templateReply = template?.reply_to ? normalizeEmail(template.reply_to) : null
	const render = rendererOf(project.id, body, template)

	const people = peopleOf()
	const personOf = ({ email }: { email: string }) => people.get(email)!
	const unwilling = recipients.filter((recipient) => !personOf(recipient).subscribed)
	if (template?.type === 'MARKETING' && unwilling.length > 0) throw notSubscribed(unwilling)

	const headers = body.headers ?? {}
	const effort = createEffort(files, headers)
	const attachments =
		files.length > 0
			? files.map(({ filename, contentType, size }) => ({ filename, contentType, size }))
			: null
	const mails = []
	for (const { field, email, name } of recipients) {
		const contact = personOf({ email })
		// One after the other: who is listed twice has the first one's name by the second.
		if (name && contact.data['name'] === undefined) {
			contact.name = { name }
			contact.data['name'] = name
		}
		if (body.data) checkSize(contact, field)
		const id = nextId()
		const variables = variablesFor(contact, linksFor(publicUrl, contact.id, id), once)
		const { content, ms } = await render(variables)
		mails.push({
			id,
			contactId: contact.id,
			to: email,
			toName: name,
			from: sender.email,
			fromName,
			replyTo: replyTo ?? templateReply,
			...content,
			headers,
			contentLanguage: template?.language ?? project.language,
			language: languageFor(once['locale'] ?? contact.data['locale'], project.language),
			// Whatever the template was made for: somebody asked for this very mail to this very address.
			type: 'TRANSACTIONAL',
			templateId: template?.id ?? null,
			attachments,
		})
		await effort.spent(content, ms)
	}
	return { requestId, mails, contacts: [...people.values()], stored, removed }

	function peopleOf() {
		const known = new Map(contacts.map((contact) => [contact.email, contact]))
		const people = new Map<string, Person>()
		for (const { email } of recipients) {
			if (people.has(email)) continue
			const contact = known.get(email)
			const data: Record<string, unknown> = { ...contact?.data }
			for (const key of removed) delete data[key]
			people.set(email, {
				id: contact?.id ?? nextId(),
				email,
				name: null,
				subscribed: body.subscribed ?? contact?.subscribed ?? false,
				data: Object.assign(data, stored),
				oldData: contact?.data ?? null,
			})
		}
		return people
	}
}

/** Subject and body for one contact, or for everybody as they are. */
function rendererOf(
	projectId: string,
	{ subject, body, render }: SendBody,
	template: SendContext['template'],
) {
	const source = { subject: subject ?? template!.subject, body: body ?? template!.body }
	if (render === false) {
		const ready = { subject: storableText(source.subject), body: storableText(source.body) }
		return async () => ({ content: { ...ready, renderFault: null }, ms: 0 })
	}
	return (variables: Variables) => contentOf(projectId, source, variables)
}

/** What came with the request was checked with it; a stored template may be older than our checks. */
async function contentOf(
	projectId: string,
	texts: { subject: string; body: string },
	variables: Variables,
) {
	try {
		return await perform(projectId, 'content', { ...texts, variables })
	} catch (error) {
		if (!isTemplateError(error)) throw error
		const [problem] = await perform(projectId, 'problems', [
			{ value: texts.subject, kind: 'subject', field: 'subject' },
			{ value: texts.body, kind: 'body', field: 'body' },
		])
		const { field, message, code } = problem!
		throw invalid({ field: 'template', message: `has a ${field} that ${message}`, code })
	}
}

/** Within the limit, or not above what it was. */
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
		message: 'has not subscribed, and the template is MARKETING',
		code: 'custom',
		received: email,
	}))
	return new ApiError(
		400,
		'BAD_REQUEST',
		`${email}${others} has not subscribed, and the template is MARKETING`,
		{
			errors: errors.slice(0, 100),
			suggestion:
				'Leave the address out, pass subscribed: true if the person agreed, or use a TRANSACTIONAL template.',
		},
	)
}
