import { addressParser } from 'postal-mime'
import { cutLine, cutText } from '../../db/storable-text.ts'
import type { InboundMail } from '../../db/emails/inbound.ts'
import { bounceTypes, type Evidence } from '../../db/reputation/evidence.ts'
import { isEmail, normalizeEmail } from '../schemas.ts'

/** The part of Resend's events that we read. Any of it may be missing. */
interface ResendEvent {
	type?: unknown
	created_at?: unknown
	data?: {
		email_id?: unknown
		message_id?: unknown
		from?: unknown
		to?: unknown
		received_for?: unknown
		subject?: unknown
		tags?: unknown
		bounce?: { type?: unknown; subType?: unknown; message?: unknown; diagnosticCode?: unknown }
		click?: { link?: unknown; timestamp?: unknown }
		failed?: { reason?: unknown }
		suppressed?: { message?: unknown }
	}
}

export interface ReportedMail {
	projectId: string | null
	emailId: string | null
	evidence: Evidence
}

const kinds: Record<string, Evidence['kind']> = {
	'email.sent': 'SENT',
	'email.delivery_delayed': 'DELAYED',
	'email.delivered': 'DELIVERED',
	'email.opened': 'OPENED',
	'email.clicked': 'CLICKED',
	'email.bounced': 'BOUNCED',
	'email.complained': 'COMPLAINED',
	'email.failed': 'FAILED',
	'email.suppressed': 'SUPPRESSED',
}

/** What the event reports about one of our mails; null if it is about something else. */
export function readReportedMail({ type, created_at, data }: ResendEvent): ReportedMail | null {
	const kind = kinds[String(type)]
	const providerMessageId = line(data?.email_id)
	if (!kind || !data || providerMessageId === null) return null
	const { bounce, click, failed, suppressed } = data
	const tags = tagsOf(data.tags)
	return {
		projectId: uuid(tags['project_id']),
		emailId: uuid(tags['email_id']),
		evidence: {
			kind,
			at: timeOf(kind === 'CLICKED' ? (click?.timestamp ?? created_at) : created_at),
			bounceType: kind === 'BOUNCED' ? bounceTypeOf(bounce?.type) : null,
			error:
				kind === 'BOUNCED'
					? bounceText(bounce)
					: (line(failed?.reason ?? suppressed?.message) ?? withoutReason[kind] ?? null),
			link: line(click?.link),
			providerMessageId,
			recipient: recipientOf(data.to),
		},
	}
}

/** Each event is about one recipient, which `to` names: the mail's own, or a copy. */
function recipientOf(to: unknown) {
	const [named, another] = [to].flat()
	const [address] = addressParser(line(named) ?? '', { flatten: true })
	return another === undefined && address?.address ? normalizeEmail(address.address) : null
}

/** Strangers address mail to anybody: of longer lists and names no more is read. */
const mostRecipients = 100
const longestRecipient = 1000

/** An incoming mail, once for each of our domains that it may be addressed to. */
export function readReceivedMail({ type, data }: ResendEvent): InboundMail | null {
	if (type !== 'email.received' || !data) return null
	const [sender] = addressParser((line(data.from) ?? '').slice(0, longestRecipient), {
		flatten: true,
	})
	const from = normalizeEmail(sender?.address ?? '')
	if (!isEmail(from)) return null
	const named = [data.received_for, data.to]
		.flat()
		.slice(0, mostRecipients)
		.map((to) => line(to) ?? '')
		.filter((to) => to.length <= longestRecipient)
	const to = named
		.flatMap((text) => addressParser(text, { flatten: true }))
		.map(({ address = '' }) => normalizeEmail(address))
		.filter(isEmail)
	return {
		from,
		fromName: sender?.name || null,
		to: [...new Set(to)],
		subject: line(data.subject) ?? '',
		messageId: line(data.message_id),
		providerMessageId: line(data.email_id),
	}
}

/** An object today; the documentation also shows a list of names and values. */
function tagsOf(tags: unknown): Record<string, unknown> {
	if (!Array.isArray(tags)) return (tags ?? {}) as Record<string, unknown>
	return Object.fromEntries(tags.map((tag) => [tag?.name, tag?.value]))
}

const withoutReason: Partial<Record<Evidence['kind'], string>> = {
	DELAYED: 'Delivery is delayed',
	FAILED: 'Resend could not send it',
	SUPPRESSED: 'The address is on the suppression list of Resend',
}

const bounceTypeOf = (type: unknown) =>
	bounceTypes.find((known) => known === type) ?? 'Undetermined'

function bounceText(bounce: NonNullable<ResendEvent['data']>['bounce']) {
	const [diagnostic] = [bounce?.diagnosticCode].flat()
	const parts = [line(bounce?.subType), line(bounce?.message), line(diagnostic)]
	return cutText(parts.filter((part) => part !== null).join(': '), 1000) || 'It bounced'
}

/** One line that Postgres can store. */
function line(value: unknown) {
	if (typeof value !== 'string') return null
	const text = cutLine(value, 2000)
	return text === '' ? null : text
}

const uuid = (value: unknown) =>
	typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)
		? value
		: null

/** Never in the future: the ledger's times are compared with the clock. */
function timeOf(value: unknown) {
	const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
	const now = Date.now()
	return new Date(time > 0 && time < now ? time : now).toISOString()
}
