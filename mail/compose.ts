import { footerFor, insertFooter } from './footer.ts'
import { asciiDomain } from './mime/headers.ts'
import { languageTag } from './language.ts'
import { isDesigned, wrap } from './layout.ts'
import { listHeaders } from './mime/list-headers.ts'
import type { MailType } from './mime/list-headers.ts'
import type { Address, Attachment, Message } from './message.ts'
import { exceeded, renderLimits } from './render-limits.ts'
import { toText } from './text/text.ts'
import { trackHtml } from './tracked-links.ts'
import { trackedUrls, type Tracking } from './tracked-urls.ts'
import { linksFor } from './liquid/variables.ts'

interface Copy extends Address {
	kind: 'cc' | 'bcc'
	error: string | null
}

/** One mail of the ledger, with rendered subject and body. Its headers are the customer's own. */
export interface Mail {
	emailId: string
	projectId: string
	/** Null once the contact has been deleted: then there is no subscription to end. */
	contactId: string | null
	from: Address
	to: Address
	/** Those with an error don't get the mail. */
	copies?: Copy[] | null | undefined
	replyTo: string | null
	subject: string
	body: string
	/** A text part of its own; otherwise it is made from the body. */
	text?: string | null | undefined
	headers: Record<string, string> | null
	/**
	 * The language of the author's text: the template's, else the project's. Absent: same as our own words.
	 */
	contentLanguage?: string | null | undefined
	/** The language of our own words: the contact's `locale`, else the project's. */
	language: string | null
	/** The lines for the footer. */
	postalAddress?: string | null | undefined
	/** Mail of `/v1/send` is TRANSACTIONAL here, whichever template it uses. */
	type: MailType
	isCampaign?: boolean
	createdAt: Date
}

/**
 * Composes a mail for the provider from the ledger's data: always the same message for the same mail. The
 * text part keeps the original links, because people read them there.
 */
export function composeMessage(
	mail: Mail,
	attachments: Attachment[],
	publicUrl: string,
	tracking: Tracking | null = null,
): Message {
	const length = mail.body.length + (mail.text?.length ?? 0)
	if (length > renderLimits().composedLength) throw exceeded('the body is too long')
	const { emailId, projectId, from, to, replyTo, subject, createdAt } = mail
	const html = layOut(mail, publicUrl)
	return {
		emailId,
		projectId,
		messageId: messageIdOf(emailId, from.email),
		from,
		to,
		...copiesOf(mail),
		replyTo,
		subject,
		html: tracking ? track(html, mail, publicUrl, tracking) : html,
		text: mail.text ?? toText(html),
		headers: headersOf(mail, publicUrl),
		attachments,
		date: createdAt,
	}
}

/** The copies that are sent. */
export function copiesOf({ copies }: Pick<Mail, 'copies'>): Pick<Message, 'cc' | 'bcc'> {
	if (!copies) return {}
	const of = (kind: Copy['kind']) =>
		copies
			.filter((copy) => copy.kind === kind && copy.error === null)
			.map(({ email, name }) => ({ email, name }))
	const [cc, bcc] = [of('cc'), of('bcc')]
	return { ...(cc.length > 0 && { cc }), ...(bcc.length > 0 && { bcc }) }
}

/** The same at every try, so that bounces, providers and a restarted worker can identify the mail. */
function messageIdOf(emailId: string, sender: string): string {
	const address = asciiDomain(sender)
	return `<${emailId}@${address.slice(address.lastIndexOf('@') + 1)}>`
}

function layOut(mail: Mail, publicUrl: string) {
	const { body, contentLanguage, language, type, contactId, emailId, postalAddress } = mail
	const html = isDesigned(body) ? body : wrap(body, languageTag(contentLanguage, language))
	if (type !== 'MARKETING' || contactId === null) return html
	const links = linksFor(publicUrl, contactId, emailId)
	return insertFooter(html, footerFor(languageTag(language), links, postalAddress))
}

function track(html: string, mail: Mail, publicUrl: string, { key, campaignId }: Tracking) {
	const { projectId, emailId } = mail
	return trackHtml(html, trackedUrls(key, publicUrl, { projectId, campaignId, emailId }), publicUrl)
}

/** Our headers, replaced by the customer's where names match, regardless of case. */
function headersOf(
	{ contactId, emailId, type, isCampaign, body, headers }: Mail,
	publicUrl: string,
) {
	const merged = new Map<string, [name: string, value: string]>()
	const links = contactId === null ? null : linksFor(publicUrl, contactId, emailId)
	const ours = listHeaders({ type, isCampaign: isCampaign ?? false, html: body, links })
	for (const [name, value] of Object.entries(ours)) merged.set(name.toLowerCase(), [name, value])
	const custom = Object.entries(headers ?? {})
	// The one-click header promises something about our unsubscribe address, not about a customer's own.
	const lowerNames = new Set(custom.map(([name]) => name.toLowerCase()))
	if (lowerNames.has('list-unsubscribe')) merged.delete('list-unsubscribe-post')
	for (const [name, value] of custom) merged.set(name.toLowerCase(), [name, value])
	return Object.fromEntries(merged.values())
}
