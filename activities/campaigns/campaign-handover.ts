import type { CampaignLane, ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../../db/emails/ledger.ts'
import type { CampaignRecipient } from '../../mail/campaign/campaign-message.ts'
import { type DkimKey, signed } from '../../mail/mime/dkim.ts'
import type { Message } from '../../mail/message.ts'
import { mayBeTaken, type Outcome } from '../../outside/providers/provider.ts'
import { attemptEnd } from '../delivery/attempt-end.ts'
import { handOver, type HandoverServices, type Made } from '../delivery/handover.ts'
import { unmade } from '../delivery/unmade.ts'
import type { CampaignTexts } from './campaign-contents.ts'

/** What all mails of a slice have in common. */
export interface Slice {
	campaign: CampaignLane
	texts: CampaignTexts
	dkim: DkimKey | undefined
}

export function handOne(
	services: HandoverServices,
	slice: Slice,
	mail: ClaimedMail,
	limited: Limited,
): Promise<Ended> {
	const { provider } = services
	return provider.deliverReady && isPlain(mail.to) && isPlain(slice.campaign.from)
		? handOver(services, mail, () => ready(services, slice, mail))
		: limited(() => handOver(services, mail, () => whole(services, slice, mail)))
}

/** Runs work when its turn comes. */
type Limited = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Hands a batch over under its key. The result leaves out mails that the provider may have taken: they
 * stay open and are repeated under the same key.
 */
export async function handBatch(
	{ provider, pause, settings }: HandoverServices,
	{ campaign, texts }: Omit<Slice, 'dkim'>,
	mails: ClaimedMail[],
	batchId: string,
): Promise<Ended[]> {
	const composed = await Promise.all(
		mails.map(async (mail) => ({ mail, ...(await composedOf(texts, mail)) })),
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
		const end = attemptEnd(mail, outcome, provider.idempotent, settings.patienceMs)
		if (!('message' in one)) return { end }
		return { end, subject: ownSubject(campaign, one.subject), fault: one.fault }
	})
}

/** The provider may have the batch; only a repeat under its key can tell. */
const isUndecided = (outcome: Outcome) => outcome.kind === 'DEFERRED' || mayBeTaken(outcome)

const isRefusal = (outcome: Outcome) => outcome.kind !== 'SENT' && outcome.kind !== 'REJECTED'

/** A 7-bit connection accepts only ASCII addresses. Other mails are handed over as whole messages. */
const isPlain = (address: string) => /^[!-~]+@/.test(address)

async function ready(
	{ provider }: HandoverServices,
	{ campaign, texts, dkim }: Slice,
	mail: ClaimedMail,
): Promise<Made> {
	const { raw, subject, fault } = await texts.wire(recipientOf(mail))
	const wire = dkim ? (await signed(Buffer.from(raw, 'latin1'), dkim)).toString('latin1') : raw
	return {
		subject: ownSubject(campaign, subject),
		fault,
		deliver: (begins) =>
			provider.deliverReady!({
				from: campaign.from,
				to: mail.to,
				raw() {
					// Until here the mail waited for a connection.
					begins()
					return wire
				},
			}),
	}
}

async function whole(
	{ provider }: HandoverServices,
	{ campaign, texts, dkim }: Slice,
	mail: ClaimedMail,
): Promise<Made> {
	const { message, subject, fault } = await texts.message(recipientOf(mail))
	const deliver = () => provider.deliver(message, dkim)
	return { subject: ownSubject(campaign, subject), fault, deliver }
}

/** The campaign's subject is not stored with each mail. */
const ownSubject = (campaign: CampaignLane, subject: string) =>
	subject === campaign.subject ? null : subject

async function composedOf(
	texts: CampaignTexts,
	mail: ClaimedMail,
): Promise<{ message: Message; subject: string; fault: string | null } | { outcome: Outcome }> {
	try {
		return await texts.message(recipientOf(mail))
	} catch (error) {
		return { outcome: unmade(error) }
	}
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
