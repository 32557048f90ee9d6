import type { EntityManager } from '@mikro-orm/postgresql'
import { Campaign } from '../../db/campaigns/campaign.ts'
import type { Email } from '../../db/emails/email.ts'

/** Mails with what their rows leave to the campaign: sender, subject and template. */
export async function withSenders<
	Mail extends Omit<Email, symbol | 'body' | 'text' | 'rareStatus'>,
>(em: EntityManager, projectId: string, mails: Mail[]) {
	const ids = new Set(mails.filter(({ from }) => !from).map(({ campaignId }) => campaignId!))
	const campaigns =
		ids.size === 0
			? []
			: await em.find(
					Campaign,
					{ projectId, id: { $in: [...ids] } },
					{ fields: ['from', 'fromName', 'projectName', 'replyTo', 'subject', 'templateId'] },
				)
	const byId = new Map(campaigns.map((campaign) => [campaign.id, campaign]))
	return mails.map((mail) => {
		const campaign = byId.get(mail.campaignId!)
		if (mail.from || !campaign)
			return Object.assign({}, mail, { from: mail.from!, subject: mail.subject! })
		const { from, fromName, projectName, replyTo, subject, templateId } = campaign
		return Object.assign({}, mail, {
			from,
			fromName: fromName ?? projectName,
			replyTo,
			templateId,
			subject: mail.subject ?? subject,
		})
	})
}
