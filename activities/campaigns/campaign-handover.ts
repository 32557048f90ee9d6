import type { CampaignLane, ClaimedMail } from '../../db/campaigns/campaign-ledger.ts'
import type { Ended } from '../../db/emails/ledger.ts'
import type { CampaignRecipient } from '../../mail/campaign/campaign-message.ts'
import { type DkimKey, signed } from '../../mail/mime/dkim.ts'
import { handOver, type HandoverServices, type Made } from '../delivery/handover.ts'
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
