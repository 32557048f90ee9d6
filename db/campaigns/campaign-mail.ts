import { bool, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** The data for rendering one mail of a campaign. */
export type CampaignMail = RowOf<typeof campaignMails>

/** Of the given mails, those whose content is their campaign's. */
export const campaignMails = statement('campaign-mails', {
	params: { projectId: uuid, emailIds: uuid.array },
	row: {
		id: uuid,
		subject: text,
		body: text,
		postal_address: text.orNull,
		/** The contact; its data is null if it was deleted. */
		contact_id: uuid.orNull,
		/** The mail's address, or the contact's current one if the mail has none yet. */
		email: text,
		subscribed: bool,
		data: json<Record<string, unknown>>(),
		/**
		 * Whether the ledger has it as it was sent. Otherwise it has none, or that of the campaign: the mail has not left,
		 * or only a report has shown that it did.
		 */
		has_subject: bool,
	},
	text: `select e.id, k.subject, k.body, k.postal_address, e.contact_id,
		case when e.attempt = 0 then coalesce(c.email, e."to") else e."to" end as email, coalesce(c.subscribed, false) as subscribed,
		coalesce(c.data, '{}') as data, coalesce(e.subject <> k.subject, false) as has_subject
	from emails e
	join campaigns k on k.project_id = e.project_id and k.id = e.campaign_id
	left join contacts c on c.project_id = e.project_id and c.id = e.contact_id
	where e.project_id = $projectId and e.id = any($emailIds::uuid[]) and e.body is null`,
})
