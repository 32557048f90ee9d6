import type { Email } from '../emails/email.ts'
import { int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

const columns = `contact_id as "contactId", id as "emailId", "to" as email, status,
	coalesce(error, render_fault) as error, sent_at as "sentAt", delivered_at as "deliveredAt",
	opened_at as "openedAt", clicked_at as "clickedAt", bounced_at as "bouncedAt",
	complained_at as "complainedAt", unsubscribed_at as "unsubscribedAt"`
const wanted =
	'project_id = $projectId and campaign_id = $campaignId::uuid and ($status::text is null or status = $status)'

/** In order of sending, by contact. Recipients whose contact was deleted come last. */
export const listRecipients = statement('list-campaign-recipients', {
	params: {
		projectId: uuid,
		campaignId: uuid,
		status: text.orNull,
		limit: int,
		afterContactId: uuid.orNull,
		afterEmailId: uuid.orNull,
	},
	row: {
		contactId: uuid.orNull,
		emailId: uuid,
		email: text,
		status: text.of<Email['status']>(),
		error: text.orNull,
		sentAt: timestamp.orNull,
		deliveredAt: timestamp.orNull,
		openedAt: timestamp.orNull,
		clickedAt: timestamp.orNull,
		bouncedAt: timestamp.orNull,
		complainedAt: timestamp.orNull,
		unsubscribedAt: timestamp.orNull,
	},
	text: `select * from (
		(select ${columns} from emails
		where ${wanted} and contact_id > coalesce($afterContactId::uuid,
			'00000000-0000-0000-0000-000000000000')
			and ($afterEmailId::uuid is null or $afterContactId is not null)
		order by contact_id limit $limit::int)
		union all
		(select ${columns} from emails
		where ${wanted} and contact_id is null
			and ($afterContactId is not null or $afterEmailId is null or id > $afterEmailId)
		order by id limit $limit::int)
	) recipients order by "contactId" nulls last, "emailId" limit $limit::int`,
})

/** Read from the counts, except for states that are counted together with others. */
export const countRecipients = statement('count-campaign-recipients', {
	params: { projectId: uuid, campaignId: uuid, status: text.orNull },
	row: { total: int },
	text: `select (case $status::text
			when 'PENDING' then n.pending when 'SENDING' then n.sending
			when 'UNCERTAIN' then n.uncertain when 'FAILED' then n.failed
			else case when $status is null
				then n.pending + n.sending + n.uncertain + n.sent + n.failed + n.skipped
				else (select count(*) from emails where ${wanted}) end
		end)::int as total
	from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) n where k.project_id = $projectId
		and k.id = $campaignId::uuid`,
})
