import { bool, float, int, type RowOf, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { countNames } from './campaign-count.ts'

const columns = countNames.join(', ')
const slotted = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'unsubscribed']
const sumsOf = (names: string[]) => names.map((name) => `sum(${name})`).join(', ')
const added = (names: string[]) =>
	names.map((name) => `${name} = c.${name} + excluded.${name}`).join(', ')

/**
 * Folds the leftover tallies of campaigns that no longer change. As in the triggers, one process folds a
 * campaign at a time, and others skip it. At most a hundred campaigns at once, because each takes a lock.
 */
export const foldOldTallies = statement('fold-old-campaign-tallies', {
	params: { limit: int },
	row: { removed: int },
	text: `with due as materialized (
		select project_id, campaign_id, id from campaign_tallies
		where id < (select uuidv7('-1 minute'))
		limit $limit::int for update skip locked
	), ours as materialized (
		select project_id, campaign_id
		from (select distinct project_id, campaign_id from due limit 100) campaign
		where pg_try_advisory_xact_lock(hashtextextended('campaign tallies of ' || campaign_id, 0))
	), gone as (
		delete from campaign_tallies t using due join ours using (project_id, campaign_id)
		where t.project_id = due.project_id and t.campaign_id = due.campaign_id and t.id = due.id
		returning t.*
	), slots as (
		insert into campaign_slots as c (project_id, campaign_id, slot, ${slotted.join(', ')})
		select gone.project_id, campaign_id, slot_of_campaign(uuid_extract_timestamp(gone.id), k.started_at),
			${sumsOf(slotted)}
		from gone join campaigns k on k.project_id = gone.project_id and k.id = campaign_id
		group by 1, 2, 3 having (${sumsOf(slotted)}) <> (${slotted.map(() => '0').join(', ')})
		on conflict (project_id, campaign_id, slot) do update set ${added(slotted)}
	), folded as (
		insert into campaign_counts as c (project_id, campaign_id, ${columns})
		select project_id, campaign_id, ${sumsOf(countNames)}
		from gone group by project_id, campaign_id
		on conflict (project_id, campaign_id) do update set ${added(countNames)}
	)
	select count(*)::int as removed from gone`,
})

/** The rate is measured by the mails settled in this many last seconds. */
const rateSeconds = 10

export type Progress = RowOf<typeof progressOf>

/**
 * In one snapshot, so that the states always add up to the total. Recipients whose mails are
 * not in the ledger yet count as pending. Pending mails of a cancelled campaign will never be sent.
 */
export const progressOf = statement('campaign-progress', {
	params: { projectId: uuid, campaignId: uuid },
	row: {
		total: int,
		pending: int,
		sending: int,
		uncertain: int,
		sent: int,
		failed: int,
		skipped: int,
		paused: bool,
		ratePerSecond: float,
		etaSeconds: int.orNull,
	},
	text: `with campaign as (
		select k.id, k.project_id, status, paused_at is not null and status = 'SENDING' as paused, n.*
		from campaigns k cross join lateral states_of_campaign(k.project_id, k.id) n
		where k.project_id = $projectId and k.id = $campaignId::uuid and k.deleted_at is null
	), recently as (
		select coalesce(-sum(t.pending + t.sending), 0) / least(${rateSeconds}.0, greatest(1,
			extract(epoch from clock_timestamp() - min(uuid_extract_timestamp(t.id))))) as rate
		from campaign k join campaign_tallies t on t.project_id = k.project_id and t.campaign_id = k.id
		where k.status = 'SENDING' and t.pending + t.sending <= 0
			and t.id > (select uuidv7('-${rateSeconds} seconds'))
	), counted as (
		select sending, uncertain, sent, failed, paused,
			case when status = 'CANCELLED' then 0 else pending + to_come end as pending,
			case when status = 'CANCELLED' then skipped + pending + to_come else skipped end as skipped,
			round(greatest(rate, 0), 1)::float8 as rate
		from campaign cross join recently
	)
	select pending + sending + uncertain + sent + failed + skipped as total,
		pending, sending, uncertain, sent, failed, skipped, paused, rate as "ratePerSecond",
		case when pending + sending = 0 then 0
			when rate > 0 and not paused then ceil((pending + sending) / rate) end::int as "etaSeconds"
	from counted`,
})

export const statsOf = statement('campaign-stats', {
	params: { projectId: uuid, campaignId: uuid },
	row: {
		totalRecipients: int,
		sent: int,
		delivered: int,
		opened: int,
		clicked: int,
		bounced: int,
		complained: int,
		unsubscribed: int,
		failed: int,
	},
	text: `select k.total_recipients as "totalRecipients", n.sent, n.delivered, n.opened, n.clicked, n.bounced,
		n.complained, n.unsubscribed, n.failed
	from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) n
	where k.project_id = $projectId and k.id = $campaignId::uuid and k.deleted_at is null`,
})
