import type { CampaignLane, ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../../db/emails/ledger.ts'
import type { CampaignRecipient } from '../../mail/campaign/campaign-message.ts'
import { type DkimKey, signed } from '../../mail/mime/dkim.ts'
import { performOnThread } from '../../mail/rendering.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { withdrawn } from '../../outside/providers/provider.ts'
import { handOver, type Made } from '../delivery/handover.ts'
import type { MemoryShare } from './campaign-memory.ts'
import type { Turn } from './campaign-turn.ts'

/** Above this, signing takes so long that it happens on a thread. */
const longToSign = 2 ** 17

export async function handOne(
	turn: Turn,
	mail: ClaimedMail,
	dkim: DkimKey | undefined,
): Promise<Ended> {
	const { services, campaign, shared } = turn
	const share = shared.memory.share()
	const isReady = services.provider.deliverReady && isPlain(mail.to) && isPlain(campaign.from)
	try {
		return isReady
			? await handOver(services, mail, () => ready(turn, mail, dkim, share))
			: await shared.limited(() => handOver(services, mail, () => whole(turn, mail, dkim, share)))
	} finally {
		share.keep(0)
	}
}

/** A 7-bit connection accepts only ASCII addresses. Other mails are handed over as whole messages. */
const isPlain = (address: string) => /^[!-~]+@/.test(address)

async function ready(
	{ services, campaign, lane, texts, withdrawal }: Turn,
	mail: ClaimedMail,
	dkim: DkimKey | undefined,
	share: MemoryShare,
): Promise<Made> {
	const { raw, subject, fault } = await texts.wire(recipientOf(mail), share)
	const wire = dkim ? await signedWire(lane.projectId, raw, dkim) : raw
	return {
		subject: ownSubject(campaign, subject),
		fault,
		deliver(begins) {
			return services.provider.deliverReady!({
				from: campaign.from,
				to: mail.to,
				raw() {
					// Until here the mail waited for a connection.
					begins()
					return wire
				},
				withdrawal: withdrawal.signal,
			})
		},
	}
}

async function signedWire(projectId: string, raw: string, dkim: DkimKey) {
	const bytes = Buffer.from(raw, 'latin1')
	const made =
		bytes.length > longToSign
			? bufferOf(await performOnThread(projectId, 'sign', { raw: bytes, dkim }))
			: await signed(bytes, dkim)
	return made.toString('latin1')
}

async function whole(
	{ services, campaign, texts, withdrawal }: Turn,
	mail: ClaimedMail,
	dkim: DkimKey | undefined,
	share: MemoryShare,
): Promise<Made> {
	const { message, subject, fault } = await texts.message(recipientOf(mail), share)
	const deliver = async () =>
		withdrawal.signal.aborted ? withdrawn : services.provider.deliver(message, dkim)
	return { deliver, subject: ownSubject(campaign, subject), fault }
}

/** The campaign's subject is not stored with each mail. */
export const ownSubject = (campaign: CampaignLane, subject: string) =>
	subject === campaign.subject ? null : subject

export const recipientOf = (mail: ClaimedMail): CampaignRecipient => ({
	emailId: mail.id,
	contactId: mail.contact_id,
	to: mail.to,
	createdAt: mail.created_at,
	email: mail.email,
	subscribed: mail.subscribed,
	data: mail.data,
})
