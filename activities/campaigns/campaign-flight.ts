import type { Pool } from 'pg'
import {
	type CampaignLane,
	type ClaimedMail,
	recordSent,
} from '../../db/campaigns/campaign-ledger.ts'
import { record } from '../../db/emails/ledger.ts'
import { attemptEnd, type HandoverServices } from '../delivery/handover.ts'
import { insistOnAll } from '../delivery/recorder.ts'
import { countEnds } from '../delivery/settled-counts.ts'
import { mayBeTaken, type Outcome } from '../providers/provider.ts'
import type { CampaignMessages, CampaignRecipient } from '../rendering/campaign-message.ts'
import { type DkimKey, signed } from '../rendering/dkim.ts'
import type { Message } from '../rendering/message.ts'

export interface FlightServices extends HandoverServices {
	pool: Pool
}

/** A slice of a campaign that is under way. */
export interface Slice {
	projectId: string
	campaign: CampaignLane
	messages: CampaignMessages
	/** Under this key a provider that knows batches has it. */
	batchId: string | null
	mails: ClaimedMail[]
	dkim: DkimKey | undefined
}

/** How one of them went, and what it turned out to be when it was put together. */
interface Handed {
	mail: ClaimedMail
	outcome: Outcome
	subject: string | null
	fault: string | null
}

/**
 * Hands a slice over and records how it went, in one statement or two. Resolves to how many are settled:
 * the others wait for a later try. A batch of which nobody knows whether it was taken stays as it is,
 * to be repeated under its key.
 */
export async function fly(services: FlightServices, slice: Slice): Promise<number> {
	const { pool, provider, pause, settings } = services
	const { projectId, campaign } = slice
	const handed = await handOver(services, slice)
	const isBatch = slice.batchId !== null
	for (const { outcome } of handed)
		if (outcome.kind === 'UNAVAILABLE') pause.unavailable(outcome.error, outcome.retryAfterMs)
		// A batch is repeated as a whole, and must not be at the speed of requests.
		else if (isBatch && outcome.kind === 'DEFERRED')
			pause.unavailable(outcome.error, outcome.retryAfterMs)
		else if (isBatch && outcome.kind === 'UNKNOWN') pause.unavailable(outcome.error, null)

	const known = isBatch ? handed.filter(({ outcome }) => !isUndecided(outcome)) : handed
	const answered = ({ outcome }: Handed) => outcome.kind === 'SENT' || outcome.kind === 'REJECTED'
	if (known.some(answered) && (!isBatch || known.length === handed.length)) pause.available()
	const sent = known.filter(({ outcome }) => outcome.kind === 'SENT')
	const ends = known
		.filter(({ outcome }) => outcome.kind !== 'SENT')
		.map(({ mail, outcome }) => attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs))
	if (sent.length > 0) {
		const rowOf = ({ mail, outcome, subject, fault }: Handed) => [
			mail.id,
			[
				mail.attempt,
				outcome.kind === 'SENT' ? outcome.providerMessageId : null,
				subject === campaign.subject ? null : subject,
				fault,
			],
		]
		await insistOnAll(sent, (some) => {
			const ids = some.map(({ mail }) => mail.id)
			const rows = JSON.stringify(Object.fromEntries(some.map(rowOf)))
			return recordSent(pool, [projectId, ids, rows])
		})
		countEnds(sent.map(() => ({ status: 'SENT' })))
	}
	await insistOnAll(ends, (some) => record(pool, [projectId, JSON.stringify(some)]))
	countEnds(ends)
	return sent.length + ends.filter(({ status }) => status !== 'PENDING').length
}

/** A batch may be at the provider all the same: only its key can tell. */
const isUndecided = (outcome: Outcome) => outcome.kind === 'DEFERRED' || mayBeTaken(outcome)

async function handOver({ provider }: FlightServices, slice: Slice): Promise<Handed[]> {
	const { mails, batchId } = slice
	if (batchId !== null) return handBatch(provider.deliverBatch!, slice, batchId)
	if (provider.deliverReady) return Promise.all(mails.map(readily(provider, slice)))
	const handed: Handed[] = []
	for (let first = 0; first < mails.length; first += provider.concurrency) {
		const some = mails.slice(first, first + provider.concurrency)
		handed.push(...(await Promise.all(some.map((mail) => singly(provider, slice, mail)))))
	}
	return handed
}

type Provider = FlightServices['provider']

/** A wire of 7 bits knows no other address; those who have one go as single mails do. */
const isPlain = (address: string) => /^[!-~]+@/.test(address)

const readily = (provider: Provider, slice: Slice) => async (mail: ClaimedMail) => {
	const { campaign, messages, dkim } = slice
	if (!isPlain(mail.to) || !isPlain(campaign.from)) return singly(provider, slice, mail)
	const made = { subject: null as string | null, fault: null as string | null }
	const compose = () => {
		const { raw, ...rest } = messages.wire(recipientOf(mail))
		Object.assign(made, rest)
		return raw
	}
	const addresses = { from: campaign.from, to: mail.to }
	try {
		const raw = dkim && (await signed(Buffer.from(compose(), 'latin1'), dkim)).toString('latin1')
		const outcome = await provider.deliverReady!({ ...addresses, raw: () => raw ?? compose() })
		return { mail, outcome, ...made }
	} catch (error) {
		return { mail, outcome: unsigned(error), ...made }
	}
}

async function singly(provider: Provider, slice: Slice, mail: ClaimedMail): Promise<Handed> {
	const composed = compose(slice.messages, mail)
	if ('outcome' in composed) return { mail, subject: null, fault: null, ...composed }
	const { message, subject, fault } = composed
	return { mail, outcome: await provider.deliver(message, slice.dkim), subject, fault }
}

async function handBatch(
	deliverBatch: NonNullable<Provider['deliverBatch']>,
	{ mails, messages }: Slice,
	batchId: string,
): Promise<Handed[]> {
	const composed = mails.map((mail) => ({ mail, ...compose(messages, mail) }))
	const good = composed.filter((one) => 'message' in one)
	const outcomes = await deliverBatch(
		good.map(({ message }) => message),
		batchId,
	)
	const outcomeOf = new Map(good.map(({ mail }, index) => [mail, outcomes[index]!]))
	return composed.map(({ mail, ...one }) =>
		'message' in one
			? { mail, outcome: outcomeOf.get(mail)!, subject: one.subject, fault: one.fault }
			: { mail, outcome: one.outcome, subject: null, fault: null },
	)
}

function compose(
	messages: CampaignMessages,
	mail: ClaimedMail,
): { message: Message; subject: string; fault: string | null } | { outcome: Outcome } {
	try {
		return messages.message(recipientOf(mail))
	} catch (error) {
		// A mail that cannot be put together will not be the next time either.
		const reason = `The mail could not be composed: ${String(error)}`
		return { outcome: { kind: 'REJECTED', error: reason, bounce: false } }
	}
}

const unsigned = (error: unknown): Outcome => ({
	kind: 'DEFERRED',
	error: error instanceof Error ? error.message : String(error),
	retryAfterMs: null,
})

const recipientOf = (mail: ClaimedMail): CampaignRecipient => ({
	emailId: mail.id,
	contactId: mail.contact_id,
	to: mail.to,
	createdAt: mail.created_at,
	email: mail.email,
	subscribed: mail.subscribed,
	data: mail.data,
})
