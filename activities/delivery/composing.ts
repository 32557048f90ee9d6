import type { CampaignMail } from '../../db/campaigns/campaign-mail.ts'
import type { OpenedMail } from '../../db/emails/ledger.ts'
import { completed } from '../../mail/campaign/completed-mail.ts'
import { mailOf } from '../../mail/ledger-mail.ts'
import type { Attachment } from '../../mail/message.ts'
import type { DkimKey } from '../../mail/mime/dkim.ts'
import { perform } from '../../mail/rendering.ts'
import { trackingOf } from './contents.ts'
import type { HandoverServices, Made } from './handover.ts'
import { encodeLarge } from './large-mails.ts'

/** The parts of a single mail that are not in its own row. */
export interface Contents {
	/** Then a thread loads its body and attachments. */
	isLarge: boolean
	attachments: Attachment[]
	/** For a campaign's mail: the source from which its subject and body are rendered. */
	source: CampaignMail | undefined
	dkim: DkimKey | undefined
}

/** The ledger has the subject already. */
const asStored = { subject: null, fault: null }

/** Composes a single mail. */
export async function compose(
	{ pool, provider, settings }: HandoverServices,
	mail: OpenedMail,
	{ isLarge, attachments, source, dkim }: Contents,
): Promise<Made> {
	const { publicUrl, trackingKey } = settings
	const tracking = trackingOf(mail, trackingKey)
	if (isLarge) {
		const { encoding } = provider
		const encoded = await encodeLarge(pool, { mail, publicUrl, tracking, encoding, dkim })
		return { deliver: () => provider.deliverEncoded(encoded), ...asStored }
	}
	const whole = source ? await completed(mail, source, publicUrl) : mail
	const input = { mail: mailOf(whole), publicUrl, tracking }
	const message = { ...(await perform(mail.project_id, 'compose', input)), attachments }
	return { deliver: () => provider.deliver(message, dkim), ...asStored }
}
