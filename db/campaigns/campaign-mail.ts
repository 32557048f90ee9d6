import { statement } from '../statement.ts'

/** A campaign's mail by itself: what it is rendered from. */
export interface CampaignMail {
	id: string
	subject: string
	body: string
	postal_address: string | null
	/** The contact; what there was of it has gone if it was deleted. */
	contact_id: string | null
	/** The one it went to, or would go to now. */
	email: string
	subscribed: boolean
	data: Record<string, unknown>
}

/** Those of some mails whose body is their campaign's. $1 project, $2 ids */
export const campaignMails = statement<CampaignMail>(
	'campaign-mails',
	`select e.id, k.subject, k.body, k.postal_address, e.contact_id,
		case when e.attempt = 0 then coalesce(c.email, e."to") else e."to" end as email, coalesce(c.subscribed, false) as subscribed,
		coalesce(c.data, '{}') as data
	from emails e
	join campaigns k on k.project_id = e.project_id and k.id = e.campaign_id
	left join contacts c on c.project_id = e.project_id and c.id = e.contact_id
	where e.project_id = $1 and e.id = any($2::uuid[]) and e.source_type = 'CAMPAIGN' and e.body is null`,
)
