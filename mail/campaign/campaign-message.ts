import {
	hasMarks,
	type Literals,
	markOf,
	type Shape,
	ShapeNotes,
	withValues,
} from './campaign-shape.ts'
import { type Skeleton, skeletonOf, standIn } from './campaign-skeleton.ts'
import { composeMessage, type Mail } from '../compose.ts'
import { decodeEntities } from '../text/entities.ts'
import { languageFor } from '../language.ts'
import { compile, render, type Rendered } from '../liquid/liquid.ts'
import type { MailType } from '../mime/list-headers.ts'
import type { Variables } from '../liquid/look-up.ts'
import type { Address, Message } from '../message.ts'
import { buildMime } from '../mime/mime.ts'
import { trackHtml } from '../tracked-links.ts'
import { trackedUrls } from '../tracked-urls.ts'
import { type Links, linksFor, variablesFor } from '../liquid/variables.ts'

/** What all mails of a campaign have in common. */
export interface CampaignContent {
	campaignId: string
	projectId: string
	subject: string
	body: string
	from: Address
	replyTo: string | null
	type: MailType
	/** The language of the author's text. */
	contentLanguage: string
	/** The language of our own words, for contacts without a `locale`. */
	language: string
	/** Appears in the footer. */
	postalAddress?: string | null
	/** Signs links and the pixel; null when the campaign is not tracked. */
	trackingKey: Buffer | null
}

/** One recipient. */
export interface CampaignRecipient {
	emailId: string
	contactId: string
	to: string
	createdAt: Date
	/** The contact's data for templates. */
	email: string
	subscribed: boolean
	data: Variables
}

interface Personalised {
	subject: string
	/** The fault in rendering, if any; it never stops a mail. */
	fault: string | null
	/** Rendering was stopped before its end. */
	isTooSlow: boolean
}

export interface CampaignMessages {
	/** Ready for the wire: one character per byte, no line starting with a dot. */
	wire(recipient: CampaignRecipient): Personalised & { raw: string }
	/** As a provider's API takes it and as GET /emails shows it. */
	message(recipient: CampaignRecipient): Personalised & { message: Message; body: string }
	/** The memory that it keeps between mails, roughly. */
	bytes(): number
}

interface Mould {
	skeleton: Skeleton
	/** Tracked links that contain personal values, with marks. Each mail signs its own. */
	links: string[]
}

/** With more shapes than this, contacts are too different for skeletons to be reused. */
const mostMoulds = 200
/** No more are made once they have this size: a mould has the size of a mail. */
const mostMouldBytes = 4 * 2 ** 20

/**
 * Parses a campaign's template once. Once decoded, `wire` is identical to `buildMime(message)`, at a
 * fraction of the cost. Only two kinds of mail are rendered in full: the first of each shape, and mails
 * whose values affect more than their own place.
 */
export function compileCampaign(content: CampaignContent, publicUrl: string): CampaignMessages {
	const subjectTemplate = compile(content.subject, 'subject')
	const bodyTemplate = compile(content.body, 'body')
	const tracking = content.trackingKey && {
		key: content.trackingKey,
		campaignId: content.campaignId,
	}
	const linksOfNobody = linksFor(publicUrl, standIn.contactId, standIn.emailId)
	const literals: Literals = new Map()
	const moulds = new Map<string, Mould | null>()
	let mouldBytes = 0
	// A template that already contains a stand-in or a mark can't use skeletons.
	const isOrdinary = ![/[\ue000-\uf8ff]/, standIn.emailId, standIn.contactId].some(
		(strange) => `${content.body} ${content.postalAddress ?? ''}`.search(strange) >= 0,
	)

	function wire(recipient: CampaignRecipient) {
		const { subject, variables, links } = begin(recipient)
		const spliced = isOrdinary ? splice(recipient, subject.text, variables, links) : null
		if (spliced) return { raw: spliced.raw, ...outcome(subject, spliced) }
		const whole = message(recipient)
		const raw = buildMime(whole.message).toString('latin1')
		const { subject: text, fault, isTooSlow } = whole
		return { raw, subject: text, fault, isTooSlow }
	}

	function message(recipient: CampaignRecipient) {
		const { subject, variables } = begin(recipient)
		const body = render(bodyTemplate, variables)
		const mail = mailOf(recipient, subject.text, body.text)
		const composed = composeMessage(mail, [], publicUrl, tracking)
		return { message: composed, body: body.text, ...outcome(subject, body) }
	}

	function begin({ contactId, emailId, email, subscribed, data }: CampaignRecipient) {
		const links = linksFor(publicUrl, contactId, emailId)
		const variables = variablesFor({ id: contactId, email, subscribed, data }, links)
		return { variables, links, subject: render(subjectTemplate, variables) }
	}

	function splice(
		recipient: CampaignRecipient,
		subject: string,
		variables: Variables,
		links: Links,
	): { raw: string; fault: string | null; isTooSlow: boolean } | null {
		const { contactId } = recipient
		const knowns = [
			{ value: contactId, standIn: standIn.contactId },
			{ value: links.unsubscribeUrl, standIn: linksOfNobody.unsubscribeUrl },
			{ value: links.manageUrl, standIn: linksOfNobody.manageUrl },
			{ value: links.subscribeUrl, standIn: linksOfNobody.subscribeUrl },
		]
		const notes = new ShapeNotes(literals, knowns, contactId)
		const { fault, isTooSlow } = render(bodyTemplate, variables, notes)
		const shape = notes.take()
		if (!shape) return null
		const mould = mouldFor(recipient, shape)
		const values = mould && withLinks(recipient, mould.links, shape.values)
		const raw = values && mould.skeleton.fill({ ...recipient, subject, values })
		return raw ? { raw, fault, isTooSlow } : null
	}

	/** The values, followed by the links that are signed with values in them. */
	function withLinks({ emailId, contactId }: CampaignRecipient, links: string[], values: string[]) {
		if (links.length === 0) return values
		const decoded = values.map(decodeEntities)
		const { click } = urlsOf(emailId)!
		const addresses = links.map((link) => {
			const personal = withValues(link, decoded).replaceAll(standIn.contactId, contactId)
			return click(personal.replaceAll(standIn.emailId, emailId))
		})
		return addresses.every((address) => address !== null) ? [...values, ...addresses] : null
	}

	const urlsOf = (emailId: string) =>
		tracking && trackedUrls(tracking.key, publicUrl, { ...content, emailId })

	function mouldFor(recipient: CampaignRecipient, shape: Shape) {
		const key = `${languageOf(recipient)}\n${shape.key}`
		const known = moulds.get(key)
		const isFull = moulds.size >= mostMoulds || mouldBytes >= mostMouldBytes
		if (known !== undefined || isFull) return known
		const nobody = { ...recipient, ...standIn, createdAt: standIn.date }
		const marked = shape.marked()
		const composed = composeMessage(mailOf(nobody, '', marked), [], publicUrl)
		const urls = urlsOf(standIn.emailId)
		const links: string[] = []
		const html = urls ? trackHtml(composed.html, { ...urls, click }, publicUrl) : composed.html
		const skeleton = skeletonOf({ ...composed, html }, marked)
		const mould = skeleton && { skeleton, links }
		moulds.set(key, mould)
		mouldBytes += key.length + (skeleton?.bytes ?? 0)
		return mould

		function click(link: string) {
			if (!hasMarks(link) && !link.includes(standIn.contactId)) return urls!.click(link)
			links.push(link)
			return markOf(shape.values.length + links.length - 1)
		}
	}

	function mailOf(recipient: CampaignRecipient, subject: string, body: string): Mail {
		const { projectId, from, replyTo, type, postalAddress = null } = content
		const { emailId, contactId, to, createdAt } = recipient
		return {
			emailId,
			projectId,
			contactId,
			from,
			to: { email: to, name: null },
			replyTo,
			subject,
			body,
			headers: null,
			contentLanguage: content.contentLanguage,
			language: languageOf(recipient),
			postalAddress,
			type,
			isCampaign: true,
			createdAt,
		}
	}

	const languageOf = ({ data }: CampaignRecipient) => languageFor(data['locale'], content.language)

	return { wire, message, bytes: () => content.body.length + mouldBytes }
}

const outcome = (subject: Rendered, body: Omit<Rendered, 'text'>) => ({
	subject: subject.text,
	fault: [subject, body].flatMap(({ fault }) => fault ?? []).join('; ') || null,
	isTooSlow: subject.isTooSlow || body.isTooSlow,
})
