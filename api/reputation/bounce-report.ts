import PostalMime, { type Attachment } from 'postal-mime'
import { normalizeEmail } from '../schemas.ts'
import { mostCopies } from '../send/send-copies.ts'
import { cutLine } from '../../db/storable-text.ts'
import type { Evidence } from '../../db/reputation/evidence.ts'

/** What a returned mail reports about one of our mails. */
export interface BounceReport {
	emailId: string
	/** One of each reader, the worst first. */
	outcomes: Outcome[]
}

type Outcome = Pick<Evidence, 'kind' | 'bounceType' | 'error'> & { recipient: string | null }

/** Status and headers come before the returned mail, however large it is. */
export const reportBytes = 2 ** 20
const maxNesting = 10
/** Lines that may start a part. A report has three parts, and the returned mail a few more. */
const maxBoundaries = 1000
const mostReaders = 1 + mostCopies

/**
 * Reads a delivery status notification (RFC 3464) or a complaint (RFC 5965). Null: it is neither,
 * or names no mail of ours. For any input, reading neither throws nor takes long.
 */
export async function readBounceReport(raw: Buffer): Promise<BounceReport | null> {
	const parts = await partsOf(raw)
	const emailId = emailIdIn(parts)
	if (emailId === null) return null
	const status = find(parts, /^message\/(global-)?delivery-status$/)
	if (status) return { emailId, outcomes: deliveryStatus(blocksOf(textOf(status))) }
	const feedback = find(parts, /^message\/feedback-report$/)
	const [report] = feedback ? blocksOf(textOf(feedback)) : []
	const type = report?.get('feedback-type')?.toLowerCase()
	if (!type || !complaints.has(type)) return null
	const complaint = { kind: 'COMPLAINED', bounceType: null, error: `Reported: ${type}` } as const
	return { emailId, outcomes: [{ ...complaint, recipient: recipientIn(report!) }] }
}

/** Other types report that a mail is not spam, or are about signatures. */
const complaints = new Set(['abuse', 'fraud', 'virus', 'other', 'opt-out'])

async function partsOf(mail: Buffer): Promise<Attachment[]> {
	const raw = mail.subarray(0, reportBytes)
	if (hasTooManyParts(raw)) return []
	try {
		const options = { forceRfc822Attachments: true, maxNestingDepth: maxNesting }
		return (await PostalMime.parse(raw, options)).attachments
	} catch {
		// It is not a readable report.
		return []
	}
}

function hasTooManyParts(raw: Buffer) {
	let at = 0
	for (let count = 0; count <= maxBoundaries; count++) {
		at = raw.indexOf('\n--', at) + 1
		if (at === 0) return false
	}
	return true
}

const find = (parts: Attachment[], type: RegExp) =>
	parts.find(({ mimeType }) => type.test(mimeType))

const textOf = ({ content }: Attachment) =>
	typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString()

/** Groups of header fields, separated by an empty line. Of a repeated field the first counts. */
function blocksOf(text: string) {
	const lines = text
		.replaceAll('\r\n', '\n')
		.replaceAll(/\n[ \t]+/g, ' ')
		.trim()
	return lines.split(/\n{2,}/).map((block) => {
		const fields = new Map<string, string>()
		for (const line of block.split('\n')) {
			const colon = line.indexOf(':')
			if (colon < 1) continue
			const name = line.slice(0, colon).trim().toLowerCase()
			if (!fields.has(name)) fields.set(name, line.slice(colon + 1).trim())
		}
		return fields
	})
}

/** The returned mail's headers contain our id; in mails from Resend they do too. */
function emailIdIn(parts: Attachment[]) {
	const original = find(parts, /^(text\/rfc822-headers|message\/(rfc822|global|global-headers))$/)
	const [headers] = original ? blocksOf(textOf(original)) : []
	return (
		idIn(/^([\da-f-]{36})$/i, headers?.get('x-tempost-id')) ??
		idIn(/^<([\da-f-]{36})@[^<>@\s]+>$/i, headers?.get('message-id'))
	)
}

function idIn(form: RegExp, value = '') {
	const id = form.exec(value)?.[1]
	return id && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id) ? id.toLowerCase() : null
}

/** A reader whom the report lists several times counts once, with the worst outcome. */
function deliveryStatus(blocks: Map<string, string>[]): Outcome[] {
	const outcomes = blocks
		.filter((fields) => fields.has('action'))
		.map((fields) => ({ ...outcomeOf(fields), recipient: recipientIn(fields) }))
		.sort((a, b) => severity(b) - severity(a))
	const readers = new Map<string | null, Outcome>()
	for (const outcome of outcomes)
		if (!readers.has(outcome.recipient)) readers.set(outcome.recipient, outcome)
	if (readers.size === 0) return [{ ...bounced('Undetermined', null), recipient: null }]
	return [...readers.values()].slice(0, mostReaders)
}

/** Only a mail with copies has a choice. */
function recipientIn(fields: Map<string, string>) {
	const [named = ''] = ['original-rcpt-to', 'original-recipient', 'final-recipient'].flatMap(
		(name) => fields.get(name) ?? [],
	)
	const address = /^(?:(?:rfc822|utf-8) *; *)?<?([^<>;\s]+)>?$/i.exec(named)?.[1]
	return address ? normalizeEmail(address) : null
}

const severities = ['SENT', 'DELIVERED', 'Undetermined', 'Transient', 'Permanent']
const severity = ({ kind, bounceType }: Outcome) => severities.indexOf(bounceType ?? kind)

function outcomeOf(fields: Map<string, string>): Omit<Outcome, 'recipient'> {
	const action = fields.get('action')!.toLowerCase()
	const diagnostic = fields.get('diagnostic-code')?.replace(/^smtp;\s*/i, '')
	const status = /^[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields.get('status') ?? '')?.[0]
	const error = cutLine([status, diagnostic].filter(Boolean).join(' '), 1000)
	if (action === 'delivered') return { kind: 'DELIVERED', bounceType: null, error: null }
	if (action === 'relayed' || action === 'expanded')
		return { kind: 'SENT', bounceType: null, error: null }
	if (action === 'delayed') return bounced('Transient', error)
	// Some reports have no status; then the refusing server's answer is used.
	const [major] = status ?? /^[45](?=\d\d\b)/.exec(diagnostic ?? '') ?? []
	if (action !== 'failed' || !major) return bounced('Undetermined', error)
	return bounced(major === '5' ? 'Permanent' : 'Transient', error)
}

const bounced = (bounceType: NonNullable<Evidence['bounceType']>, error: string | null) => ({
	kind: 'BOUNCED' as const,
	bounceType,
	error: error || 'It came back without a reason',
})
