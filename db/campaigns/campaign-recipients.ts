import type { Pool } from 'pg'
import { type Email, rareStatuses } from '../emails/email.ts'
import { mailTimes } from '../emails/mail-records.ts'
import { lacksMonths } from '../partitions.ts'
import { int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { readWithin } from '../timed-reading.ts'
import { contactsOfPage } from './audience-page.ts'
import { addressOf } from './audience-pages.ts'

const countMs = 1000

const columns = `contact_id as "contactId", id as "emailId", "to" as email, status,
	coalesce(error, render_fault) as error, sent_at as "sentAt", delivered_at as "deliveredAt",
	opened_at as "openedAt", clicked_at as "clickedAt", bounced_at as "bouncedAt",
	complained_at as "complainedAt", unsubscribed_at as "unsubscribedAt"`
const wanted =
	'project_id = $projectId and campaign_id = $campaignId::uuid and ($status::text is null or status = $status)'

const firstContact = `coalesce($afterContactId::uuid, '00000000-0000-0000-0000-000000000000')`

const shape = {
	params: {
		projectId: uuid,
		campaignId: uuid,
		status: text.orNull,
		limit: int,
		afterContactId: uuid.orNull,
		afterEmailId: uuid.orNull,
	},
	row: {
		/** Its position in the list, with the id of its mail. */
		place: uuid.orNull,
		contactId: uuid.orNull,
		emailId: uuid.orNull,
		email: text,
		status: text.of<Email['status']>(),
		error: text.orNull,
		...mailTimes,
		unsubscribedAt: timestamp.orNull,
	},
}

/** A fence around the mails of a rare status: there are few, and `emails_rare` finds them without reading others. */
const rareMails = `(select * from emails
		where rare_status = $status and project_id = $projectId and campaign_id = $campaignId::uuid
		offset 0) emails where true`

const recipientsAmong = (mails: string) => `select * from (
		(select contact_id as place, ${columns} from ${mails} and contact_id > ${firstContact}
			and ($afterEmailId::uuid is null or $afterContactId is not null)
		order by contact_id limit $limit::int)
		union all
		(select waiting.contact_id, c.id, null, ${addressOf('waiting.contact_id')}, waiting.status,
			null, null, null, null, null, null, null, null
		from (
			select contact_id, page.status from (
				select a.contact_ids, a.taken, a.size,
					sum(a.size - a.taken) over (order by a.until) - (a.size - a.taken) as before,
					case k.status when 'CANCELLED' then 'CANCELLED' else 'PENDING' end as status
				from audience_pages a join campaigns k on k.project_id = a.project_id and k.id = a.campaign_id
				where a.project_id = $projectId and a.campaign_id = $campaignId::uuid and a.until > ${firstContact}
					and ($afterEmailId is null or $afterContactId is not null)
				order by a.until limit $limit
			) page cross join lateral unnest(page.contact_ids[page.taken + 1 : page.size]) contact_id
			where contact_id > ${firstContact} and ($status is null or page.status = $status)
				-- Some contacts of the first page may come before the first that is wanted.
				and page.before < $limit + ${contactsOfPage}
			order by contact_id limit $limit
		) waiting
		left join lateral (
			select id, email from contacts where project_id = $projectId and id = waiting.contact_id offset 0) c on true)
		union all
		(select contact_id, ${columns} from ${mails} and contact_id is null
			and ($afterContactId is not null or $afterEmailId is null or id > $afterEmailId)
		order by id limit $limit::int)
	) recipients order by place nulls last, "emailId" limit $limit::int`

/**
 * In order of sending, by contact. Recipients whose mails are not in the ledger yet are read from the pages
 * of the audience. Mails whose contact was deleted come last.
 */
const listByStatus = statement('list-campaign-recipients', {
	...shape,
	text: recipientsAmong(`emails where ${wanted}`),
})

/** The same for a rare status, such as FAILED: a large campaign is not searched for its few. */
const listRare = statement('list-rare-campaign-recipients', {
	...shape,
	text: recipientsAmong(rareMails),
})

const isRare = (status: string | null) => rareStatuses.some((rare) => rare === status)

export const listRecipients: typeof listByStatus = (db, given) =>
	isRare(given.status) ? listRare(db, given) : listByStatus(db, given)

/** Up to 10,000 of those that are not read from the counts. */
const countSome = statement('count-some-campaign-recipients', {
	params: { projectId: uuid, campaignId: uuid, status: text.orNull },
	row: { total: int },
	text: `select count(*)::int as total from (select from emails where ${wanted} limit 10000) found`,
})

/** Counted for a second; if there are too many, only up to 10,000. Null: even that takes longer. */
export async function countRecipients(
	pool: Pool,
	wanted: { projectId: string; campaignId: string; status: string | null },
) {
	const counted =
		(await readWithin(pool, countMs, (db) => countAll(db, wanted))) ??
		(await readWithin(pool, countMs, (db) => countSome(db, wanted)))
	return counted ? (counted[0]?.total ?? 0) : null
}

/**
 * Read from the counts, except for states that are counted together with others. The counts of a campaign that has lost a
 * month of its mails are more than its list has.
 */
const countAll = statement('count-campaign-recipients', {
	params: { projectId: uuid, campaignId: uuid, status: text.orNull },
	row: { total: int },
	text: `select (case
			when $status::text = 'PENDING' then n.pending + case when k.status <> 'CANCELLED' then waiting else 0 end
			when $status = 'SENDING' then n.sending
			when $status = 'UNCERTAIN' then n.uncertain
			when $status = 'FAILED' and not is_short then n.failed
			when $status is null and not is_short
				then n.pending + n.sending + n.uncertain + n.sent + n.failed + n.skipped + waiting
			when $status is null then (select count(*) from emails where ${wanted}) + waiting
			when $status in (${rareStatuses.map((rare) => `'${rare}'`).join(', ')})
				then (select count(*) from ${rareMails})
				+ case when $status = 'CANCELLED' and k.status = 'CANCELLED' then waiting else 0 end
			else (select count(*) from emails where ${wanted})
		end)::int as total
	from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) n
	cross join lateral (
		select coalesce(sum(size - taken), 0)::int as waiting from audience_pages
		where project_id = k.project_id and campaign_id = k.id
	) pages
	cross join lateral (
		select ${lacksMonths('k.started_at', 'coalesce(k.closed_at, now())')} as is_short
	) months
	where k.project_id = $projectId and k.id = $campaignId::uuid`,
})
