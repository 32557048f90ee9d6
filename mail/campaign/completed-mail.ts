import { languageFor } from '../language.ts'
import type { LedgerMail } from '../ledger-mail.ts'
import { perform } from '../rendering.ts'
import type { CampaignMailSource } from './campaign-mail.ts'

/** A campaign's mail with the content that is rendered for its recipient. */
export async function completed(
	mail: LedgerMail,
	source: CampaignMailSource & { postal_address: string | null },
	publicUrl: string,
): Promise<LedgerMail> {
	const { result } = await perform(mail.project_id, 'campaignMail', {
		source: { ...source, email: mail.to },
		publicUrl,
	})
	const { subject, body, locale } = result
	const language = languageFor(locale, mail.language)
	return { ...mail, subject, body, language, postal_address: source.postal_address }
}
