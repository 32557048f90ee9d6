import { ThreadLost } from '../../mail/threads/pool.ts'
import type { Pool } from 'pg'
import {
	type CampaignLane,
	type ClaimedMail,
	recordSent,
} from '../../db/campaigns/campaign-ledger.ts'
import { type AttemptEnd, record } from '../../db/emails/ledger.ts'
import { attemptEnd, type HandoverServices, heed } from '../delivery/handover.ts'
import { mayBeTaken, type Outcome } from '../providers/provider.ts'
import type { CampaignRecipient } from '../rendering/campaign-message.ts'
import { type DkimKey, isUnusableKey, signed } from '../rendering/dkim.ts'
import type { Message } from '../rendering/message.ts'
import { type CampaignTexts, TemplateTooSlow } from './campaign-contents.ts'

/** What the mails of a slice have in common. */
export interface Slice {
	projectId: string
	campaign: CampaignLane
	texts: CampaignTexts
	dkim: DkimKey | undefined
}

/** How one of them went, and what it turned out to be when it was put together. */
export interface Handed {
	end: AttemptEnd
	subject: string | null
	fault: string | null
}

interface Made {
	subject: string | null
	fault: string | null
}

/** Hands one mail over. */
export async function handOne(
	services: HandoverServices,
	slice: Slice,
	mail: ClaimedMail,
	inTurn: InTurn,
): Promise<Handed> {
	const { provider, settings } = services
	const made: Made = { subject: null, fault: null }
	const hand = provider.deliverReady && isPlain(mail.to) && isPlain(slice.campaign.from)
	const outcome = hand
		? await readily(services, slice, mail, made)
		: await inTurn(() => singly(services, slice, mail, made))
	return { end: attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs), ...made }
}

/** Runs work when its turn comes. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Hands a batch over under its key. A mail that may be at the provider all the same is not among the
 * answers: it stays as it is, to be repeated under the key.
 */
export async function handBatch(
	{ provider, pause, settings }: HandoverServices,
	texts: CampaignTexts,
	mails: ClaimedMail[],
	batchId: string,
): Promise<Handed[]> {
	const composed = await Promise.all(
		mails.map(async (mail) => ({ mail, ...(await compose(texts, mail)) })),
	)
	const good = composed.filter((one) => 'message' in one)
	const startedAt = performance.now()
	const outcomes = await provider.deliverBatch!(
		good.map(({ message }) => message),
		batchId,
	)
	// A batch is repeated as a whole, and must not be at the speed of requests.
	const refusal = outcomes.find(isRefusal)
	if (refusal) {
		const retryAfterMs = refusal.kind === 'UNKNOWN' ? null : refusal.retryAfterMs
		pause.unavailable(refusal.error, retryAfterMs, startedAt)
	} else if (outcomes.length > 0) pause.available(startedAt)
	const outcomeOf = new Map(good.map(({ mail }, index) => [mail, outcomes[index]!]))
	return composed.flatMap(({ mail, ...one }) => {
		const outcome = 'message' in one ? outcomeOf.get(mail)! : one.outcome
		if (isUndecided(outcome)) return []
		const { subject, fault } = 'message' in one ? one : { subject: null, fault: null }
		const end = attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs)
		return { end, subject, fault }
	})
}

/** Writes how mails went, in one statement or two. Writing it twice changes nothing. */
export async function recordHanded(
	pool: Pool,
	{ projectId, campaign }: Omit<Slice, 'dkim'>,
	handed: Handed[],
): Promise<void> {
	const sent = handed.filter(({ end }) => end.status === 'SENT')
	const others = handed.filter(({ end }) => end.status !== 'SENT').map(({ end }) => end)
	if (sent.length > 0) {
		const rowOf = ({ end, subject, fault }: Handed) => [
			end.id,
			[end.attempt, end.providerMessageId, subject === campaign.subject ? null : subject, fault],
		]
		const ids = sent.map(({ end }) => end.id)
		const rows = JSON.stringify(Object.fromEntries(sent.map(rowOf)))
		await recordSent(pool, [projectId, ids, rows])
	}
	if (others.length > 0) await record(pool, [projectId, JSON.stringify(others)])
}

/** A batch may be at the provider all the same: only its key can tell. */
const isUndecided = (outcome: Outcome) => outcome.kind === 'DEFERRED' || mayBeTaken(outcome)

const isRefusal = (outcome: Outcome) => outcome.kind !== 'SENT' && outcome.kind !== 'REJECTED'

/** A wire of 7 bits knows no other address; those who have one go as single mails do. */
const isPlain = (address: string) => /^[!-~]+@/.test(address)

async function readily(
	services: HandoverServices,
	{ campaign, texts, dkim }: Slice,
	mail: ClaimedMail,
	made: Made,
): Promise<Outcome> {
	let startedAt = performance.now()
	try {
		const { raw: bare, subject, fault } = await texts.wire(recipientOf(mail))
		Object.assign(made, { subject, fault })
		const whole = dkim ? (await signed(Buffer.from(bare, 'latin1'), dkim)).toString('latin1') : bare
		const raw = () => {
			// Its turn has come: before, it only waited for a connection.
			startedAt = performance.now()
			return whole
		}
		const outcome = await services.provider.deliverReady!({ from: campaign.from, to: mail.to, raw })
		heed(services, outcome, startedAt)
		return outcome
	} catch (error) {
		return unmade(error)
	}
}

async function singly(
	services: HandoverServices,
	{ texts, dkim }: Slice,
	mail: ClaimedMail,
	made: Made,
): Promise<Outcome> {
	const composed = await compose(texts, mail)
	if ('outcome' in composed) return composed.outcome
	made.subject = composed.subject
	made.fault = composed.fault
	const startedAt = performance.now()
	const outcome = await services.provider.deliver(composed.message, dkim)
	heed(services, outcome, startedAt)
	return outcome
}

async function compose(
	texts: CampaignTexts,
	mail: ClaimedMail,
): Promise<{ message: Message; subject: string; fault: string | null } | { outcome: Outcome }> {
	try {
		return await texts.message(recipientOf(mail))
	} catch (error) {
		return { outcome: unmade(error) }
	}
}

function unmade(error: unknown): Outcome {
	const reason = error instanceof Error ? error.message : String(error)
	// Once the template or the key is mended they can go.
	if (error instanceof TemplateTooSlow || error instanceof ThreadLost || isUnusableKey(error))
		return { kind: 'DEFERRED', error: reason, retryAfterMs: null }
	// A mail that cannot be put together will not be the next time either.
	return { kind: 'REJECTED', error: `The mail could not be composed: ${reason}`, bounce: false }
}

const recipientOf = (mail: ClaimedMail): CampaignRecipient => ({
	emailId: mail.id,
	contactId: mail.contact_id,
	to: mail.to,
	createdAt: mail.created_at,
	email: mail.email,
	subscribed: mail.subscribed,
	data: mail.data,
})
