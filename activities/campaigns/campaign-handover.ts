import type { CampaignLane, ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../../db/emails/ledger.ts'
import type { CampaignRecipient } from '../../mail/campaign/campaign-message.ts'
import { type DkimKey, signed } from '../../mail/mime/dkim.ts'
import { handOver, type Made } from '../delivery/handover.ts'
import type { Turn } from './campaign-turn.ts'

export function handOne(turn: Turn, mail: ClaimedMail, dkim: DkimKey | undefined): Promise<Ended> {
	const { services, campaign, shared } = turn
	return services.provider.deliverReady && isPlain(mail.to) && isPlain(campaign.from)
		? handOver(services, mail, () => ready(turn, mail, dkim))
		: shared.limited(() => handOver(services, mail, () => whole(turn, mail, dkim)))
}

/** A 7-bit connection accepts only ASCII addresses. Other mails are handed over as whole messages. */
const isPlain = (address: string) => /^[!-~]+@/.test(address)

async function ready(
	{ services, campaign, texts }: Turn,
	mail: ClaimedMail,
	dkim: DkimKey | undefined,
): Promise<Made> {
	const { raw, subject, fault } = await texts.wire(recipientOf(mail))
	const wire = dkim ? (await signed(Buffer.from(raw, 'latin1'), dkim)).toString('latin1') : raw
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
			})
		},
	}
}

async function whole(
	{ services, campaign, texts }: Turn,
	mail: ClaimedMail,
	dkim: DkimKey | undefined,
): Promise<Made> {
	const { message, subject, fault } = await texts.message(recipientOf(mail))
	const deliver = () => services.provider.deliver(message, dkim)
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
