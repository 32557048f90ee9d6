import { ThreadLost } from '../../mail/threads/pool.ts'
import type { Pool } from 'pg'
import type { CampaignLane, ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import { type AttemptEnd, recordEnds } from '../../db/emails/ledger.ts'
import { attemptEnd, type HandoverServices, heed } from '../delivery/handover.ts'
import { mayBeTaken, type Outcome } from '../../outside/providers/provider.ts'
import type { CampaignRecipient } from '../../mail/campaign/campaign-message.ts'
import { type DkimKey, isUnusableKey, signed } from '../../mail/mime/dkim.ts'
import type { Message } from '../../mail/message.ts'
import { type CampaignTexts, TemplateTooSlow } from './campaign-contents.ts'

/** What all mails of a slice have in common. */
export interface Slice {
	projectId: string
	campaign: CampaignLane
	texts: CampaignTexts
	dkim: DkimKey | undefined
}

/** How the attempt for one mail ended, with its rendered subject and any fault in rendering. */
export interface Handed {
	end: AttemptEnd
	subject: string | null
	fault: string | null
}

interface Made {
	subject: string | null
	fault: string | null
}

export async function handOne(
	services: HandoverServices,
	slice: Slice,
	mail: ClaimedMail,
	limited: Limited,
): Promise<Handed> {
	const { provider, settings } = services
	const made: Made = { subject: null, fault: null }
	const hand = provider.deliverReady && isPlain(mail.to) && isPlain(slice.campaign.from)
	const outcome = hand
		? await readily(services, slice, mail, made)
		: await limited(() => singly(services, slice, mail, made))
	return { end: attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs), ...made }
}

/** Runs work when its turn comes. */
type Limited = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Hands a batch over under its key. The result leaves out mails that the provider may have taken: they
 * stay open and are repeated under the same key.
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
	// A batch is repeated as a whole. The pause keeps the repeats from following each other at once.
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

/** Records the outcomes. Only a subject of a mail's own is stored. */
export const recordHanded = (
	pool: Pool,
	{ projectId, campaign }: Pick<Slice, 'projectId' | 'campaign'>,
	handed: Handed[],
) =>
	recordEnds(
		pool,
		projectId,
		handed.map((one) => (one.subject === campaign.subject ? { ...one, subject: null } : one)),
	)

/** The provider may have the batch; only a repeat under its key can tell. */
const isUndecided = (outcome: Outcome) => outcome.kind === 'DEFERRED' || mayBeTaken(outcome)

const isRefusal = (outcome: Outcome) => outcome.kind !== 'SENT' && outcome.kind !== 'REJECTED'

/** A 7-bit connection accepts only ASCII addresses. Other mails are sent by `singly`. */
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
			// The hand-over starts now; until here it waited for a connection.
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
	// These mails can be sent once the template or the key is fixed.
	if (error instanceof TemplateTooSlow || error instanceof ThreadLost || isUnusableKey(error))
		return { kind: 'DEFERRED', error: reason, retryAfterMs: null }
	// Composing this mail would fail again.
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
