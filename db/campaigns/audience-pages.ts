import type { Pool } from 'pg'
import { contactDeleted, erasedAddress } from '../emails/email.ts'
import { int, timestamp, uuid } from '../sql-types.ts'
import { ownText, query, sql } from '../sql.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { contactsOfPage } from './audience-page.ts'
import type { CampaignKey } from './campaign-actions.ts'
import { audienceColumns, audiencePredicate, selectAudience } from './campaign-audience.ts'

// Freezes the audience of a campaign: its contacts, divided into lanes and pages. It takes seconds for a
// million contacts, and the lanes start meanwhile.

const freezing = `project_id = $projectId and id = $campaignId and status = 'SENDING'
	and materialised_at is null`

const lockFreezing = statement('lock-freezing-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: { ...audienceColumns, startedAt: timestamp.notNull('a campaign that is SENDING has one') },
	text: `select ${selectAudience}, started_at as "startedAt" from campaigns
	where ${freezing} and lane_bounds is not null for no key update`,
})

const writePages = query('freeze-chunk', { id: uuid })

/**
 * Reads the next contacts, so many of them, and writes pages of those in the audience, in the transaction that records the
 * progress. So two workers on the same campaign take turns, chunk by chunk. False: no contacts are left,
 * or the campaign must not continue.
 */
export const freezeChunk = (pool: Pool, projectId: string, campaignId: string, contacts: number) =>
	transaction(pool, async (db) => {
		const [campaign] = await lockFreezing(db, { projectId, campaignId })
		if (!campaign) return false
		const { startedAt } = campaign
		const isMeant = await audiencePredicate(db, projectId, campaign, startedAt)
		const [project, id] = [uuid.value(projectId), uuid.value(campaignId)]
		const rows = await writePages(
			db,
			sql`with looked as materialized (
				select * from contacts
				where project_id = ${project} and created_at <= ${timestamp.value(startedAt)}
					and id > (select coalesce(materialised_until, '00000000-0000-0000-0000-000000000000')
						from campaigns where project_id = ${project} and id = ${id})
				order by id limit ${int.value(contacts)}
			), meant as (
				-- A lane ends with its bound.
				select c.id, width_bucket(c.id, k.lane_bounds) - (c.id = any(k.lane_bounds))::int as lane
				from campaigns k, looked c
				where k.project_id = ${project} and k.id = ${id} and ${isMeant}
			), placed as (
				select id, lane, (row_number() over (order by id) - 1) / ${ownText(String(contactsOfPage))} as page
				from meant
			), written as (
				insert into audience_pages (project_id, campaign_id, until, contact_ids, size)
				select ${project}, ${id}, contact_ids[cardinality(contact_ids)], contact_ids, cardinality(contact_ids)
				from (select array_agg(id order by id) as contact_ids from placed group by lane, page) pages
			)
			update campaigns set materialised_until = last.id
			from (select id from looked order by id desc limit 1) last
			where campaigns.project_id = ${project} and campaigns.id = ${id}
			returning campaigns.id`,
		)
		return rows.length > 0
	})

/** Fewer mails don't justify a lane of their own. */
const mailsOfLane = 2500
const mostLanes = 4

/** Divides a campaign into lanes with about as many of the project's contacts each. */
export const divideIntoLanes = statement('divide-into-lanes', {
	params: { projectId: uuid, campaignId: uuid },
	text: `with division as (
		select greatest(1, least(${mostLanes}, total_recipients / ${mailsOfLane})) as lanes from campaigns
		where ${freezing} and lane_bounds is null
	), people as materialized (
		select count(*) as count from contacts where project_id = $projectId and (select lanes from division) > 1
	)
	update campaigns set lane_bounds = array(
			select bound.id from division cross join people cross join generate_series(1, lanes - 1) lane
			cross join lateral (
				select id from contacts where project_id = $projectId
				order by id offset greatest(0, people.count * lane / lanes - 1) limit 1) bound
			group by bound.id order by bound.id)
	from division where ${freezing} and lane_bounds is null`,
})

const setTotal = statement('finish-freezing', {
	params: { projectId: uuid, campaignId: uuid },
	text: `update campaigns set materialised_at = now(), total_recipients = n.written + pages.waiting
	from (
		select pending + sending + uncertain + sent + failed + skipped as written
		from counts_of_campaign($projectId, $campaignId)
	) n, (
		select coalesce(sum(size - taken), 0)::int as waiting from audience_pages
		where project_id = $projectId and campaign_id = $campaignId
	) pages
	where ${freezing}`,
})

/** The whole audience is frozen: sets the total, after other workers have written their last chunk. */
export const finishFreezing = (pool: Pool, { projectId, campaignId }: CampaignKey) =>
	transaction(pool, async (db) => {
		await lockFreezing(db, { projectId, campaignId })
		await setTotal(db, { projectId, campaignId })
	})

/** The address of a recipient, which is contact `c` or was deleted since the audience was frozen. */
export const addressOf = (contactId: string, lock: 'for key share' | '' = '') =>
	`coalesce(c.email,
		(select email from removed_contacts where project_id = $projectId and id = ${contactId} ${lock}),
		'${erasedAddress}')`

const pagesCancelledAtOnce = 10

/** Mails of a cancelled campaign that were not in the ledger yet are born CANCELLED, some pages at once. */
export const cancelPages = statement('cancel-audience-pages', {
	params: { projectId: uuid, campaignId: uuid },
	row: { pages: int },
	text: `with gone as (
		delete from audience_pages where project_id = $projectId and campaign_id = $campaignId
			and until in (
				select until from audience_pages where project_id = $projectId and campaign_id = $campaignId
				order by until limit ${pagesCancelledAtOnce})
			and exists (select from campaigns where project_id = $projectId and id = $campaignId
				and status = 'CANCELLED')
		returning contact_ids[taken + 1 : size] as contact_ids
	), born as (
		insert into emails (project_id, contact_id, "to", headers, language, type, source_type, campaign_id, status, error,
			updated_at, granted_attempt, opens, clicks, prefetches)
		select $projectId, c.id, ${addressOf('place.contact_id', 'for key share')}, null, null, null, null,
			$campaignId::uuid, 'CANCELLED',
			case when c.id is null then '${contactDeleted}' else 'The campaign was cancelled' end,
			null, null, null, null, null
		from gone cross join lateral unnest(contact_ids) with ordinality as place(contact_id, number)
		left join lateral (
			select id, email from contacts where project_id = $projectId and id = place.contact_id offset 0) c on true
		order by place.contact_id
	)
	select count(*)::int as pages from gone`,
})
