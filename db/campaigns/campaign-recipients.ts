import type { Email } from '../emails/email.ts'
import { statement } from '../statement.ts'
import { countsOf } from './campaign-counts.ts'

export interface RecipientRow {
	contactId: string | null
	emailId: string
	email: string
	status: Email['status']
	error: string | null
	sentAt: Date | null
	deliveredAt: Date | null
	openedAt: Date | null
	clickedAt: Date | null
	bouncedAt: Date | null
	complainedAt: Date | null
	unsubscribedAt: Date | null
}

const columns = `contact_id as "contactId", id as "emailId", "to" as email, status,
	coalesce(error, render_fault) as error, sent_at as "sentAt", delivered_at as "deliveredAt",
	opened_at as "openedAt", clicked_at as "clickedAt", bounced_at as "bouncedAt",
	complained_at as "complainedAt", unsubscribed_at as "unsubscribedAt"`
const wanted = 'project_id = $1 and campaign_id = $2::uuid and ($3::text is null or status = $3)'

/**
 * By contact, in the order in which they are written to; behind them those whose contact was deleted.
 * $1 project, $2 campaign, $3 status or null, $4 limit, $5 contact and $6 mail of the last one, or null
 */
export const listRecipients = statement<RecipientRow>(
	'list-campaign-recipients',
	`select * from (
		(select ${columns} from emails
		where ${wanted} and contact_id > coalesce($5::uuid, '00000000-0000-0000-0000-000000000000')
			and ($6::uuid is null or $5 is not null)
		order by contact_id limit $4::int)
		union all
		(select ${columns} from emails
		where ${wanted} and contact_id is null and ($5 is not null or $6 is null or id > $6)
		order by id limit $4::int)
	) recipients order by "contactId" nulls last, "emailId" limit $4::int`,
)

/**
 * Known without a look at the mails, unless it is about one of the states that are counted together.
 * $1 project, $2 campaign, $3 status or null
 */
export const countRecipients = statement<{ total: number }>(
	'count-campaign-recipients',
	`select (case $3::text
			when 'PENDING' then n.pending when 'SENDING' then n.sending
			when 'UNCERTAIN' then n.uncertain when 'FAILED' then n.failed
			else case when $3 is null
				then n.pending + n.sending + n.uncertain + n.sent + n.failed + n.skipped
				else (select count(*) from emails where ${wanted}) end
		end)::int as total
	from campaigns k cross join lateral ${countsOf} n where k.project_id = $1 and k.id = $2::uuid`,
)
