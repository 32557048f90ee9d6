import { dataProblems, splitData } from '../activities/rendering/contact-data.ts'
import { compile, render, TemplateError } from '../activities/rendering/liquid.ts'
import { linksFor, variablesFor } from '../activities/rendering/variables.ts'
import type { SendContext } from '../db/acceptance.ts'
import { ApiError, invalid } from './errors.ts'
import type { SendBody, SendRequest } from './send-request.ts'

interface Sender {
	project: { name: string; language: string }
	publicUrl: string
}

/** Everything that the write needs, decided: contacts, mails, and what becomes of the data. */
export function planSend(
	body: SendBody,
	{ recipients, from, files }: SendRequest,
	{ template, contacts, ids }: SendContext,
	{ project, publicUrl }: Sender,
) {
	const { stored, removed, once } = splitData(body.data ?? {})
	const known = new Map(contacts.map((contact) => [contact.email, contact]))
	const freshIds = ids.values()
	const nextId = () => freshIds.next().value!
	const requestId = nextId()
	const sender = from ?? { email: template!.from, name: null }
	const fromName = sender.name ?? template?.from_name ?? project.name
	const subject = compiled(body.subject ?? template!.subject, 'subject')
	const html = compiled(body.body ?? template!.body, 'body')
	const people = new Map<string, ReturnType<typeof person>>()

	const mails = recipients.map((recipient, index) => {
		const contact = people.get(recipient.email) ?? person(recipient)
		people.set(recipient.email, contact)
		if (template?.type === 'MARKETING' && !contact.subscribed) throw unsubscribed(recipient.email)
		if (body.data && contact.isKnown) checkSize(contact.data, `to.${index}`)
		const id = nextId()
		const links = linksFor(publicUrl, contact.id, id)
		const variables = variablesFor(contact, links, once)
		const subjectOf = render(subject, variables)
		const bodyOf = render(html, variables)
		return {
			id,
			contactId: contact.id,
			to: recipient.email,
			toName: recipient.name,
			from: sender.email,
			fromName,
			replyTo: body.reply ?? template?.reply_to ?? null,
			subject: subjectOf.text,
			body: bodyOf.text,
			headers: body.headers ?? {},
			language: languageOf(contact.data['locale'], project.language),
			// Whatever the template was made for: somebody asked for this very mail to this very address.
			type: 'TRANSACTIONAL',
			templateId: template?.id ?? null,
			attachments: files.length > 0 ? files.map(({ content: _, ...file }) => file) : null,
			renderFault: subjectOf.fault ?? bodyOf.fault,
		}
	})
	return { requestId, mails, contacts: [...people.values()], stored, removed }

	/** The contact as it will be once this request is through. */
	function person({ email, name }: { email: string; name: string | null }) {
		const contact = known.get(email)
		const data: Record<string, unknown> = { ...contact?.data }
		for (const key of removed) delete data[key]
		if (name && data['name'] === undefined) data['name'] = name
		return {
			id: contact?.id ?? nextId(),
			email,
			name: name ? { name } : null,
			isKnown: contact !== undefined,
			subscribed: body.subscribed ?? contact?.subscribed ?? false,
			data: Object.assign(data, stored),
		}
	}
}

/** What came with the request was checked with it; a stored template may be older than our checks. */
function compiled(source: string, kind: 'subject' | 'body') {
	try {
		return compile(source, kind)
	} catch (error) {
		if (!(error instanceof TemplateError)) throw error
		const { message, line, column } = error
		throw invalid({
			field: 'template',
			message: `has a ${kind} that cannot be read: ${message} (line ${line}, column ${column})`,
			code: 'template_syntax',
		})
	}
}

function checkSize(data: Record<string, unknown>, field: string) {
	const tooBig = dataProblems(data).find(
		({ code, field }) => code === 'too_big' && field === 'data',
	)
	if (tooBig)
		throw invalid({
			field: 'data',
			message: `makes the data of ${field} larger than 64 KB in total`,
			code: 'too_big',
		})
}

const unsubscribed = (email: string) =>
	new ApiError(400, 'BAD_REQUEST', `${email} has not subscribed, and the template is MARKETING`, {
		suggestion:
			'Leave the address out, pass subscribed: true if the person agreed, or use a TRANSACTIONAL template.',
	})

const languageOf = (locale: unknown, byDefault: string) =>
	typeof locale === 'string' && /^[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*$/.test(locale)
		? locale
		: byDefault
