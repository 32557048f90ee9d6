import { statement } from '../statement.ts'
import { countNames } from './campaign-count.ts'

const columns = countNames.join(', ')

/** For a lateral join: how many mails of campaign `k` are in which state, in the statement's snapshot. */
export const countsOf = `(
	select ${countNames.map((name) => `coalesce(sum(${name}), 0)::int as ${name}`).join(', ')}
	from (
		select ${columns} from campaign_counts
		where project_id = k.project_id and campaign_id = k.id
		union all
		select ${columns} from campaign_tallies
		where project_id = k.project_id and campaign_id = k.id
	) counted
)`

/**
 * What the triggers left, of campaigns at which nothing happens any more. As they do: one folder at a time
 * for a campaign, and who finds another at work leaves it to them. Of a hundred campaigns at once, for
 * each takes a lock. $1 how many at most
 */
export const foldOldTallies = statement<{ removed: number }>(
	'fold-old-campaign-tallies',
	`with due as materialized (
		select project_id, campaign_id, id from campaign_tallies
		where id < (select uuidv7('-1 minute'))
		limit $1::int for update skip locked
	), ours as materialized (
		select project_id, campaign_id
		from (select distinct project_id, campaign_id from due limit 100) campaign
		where pg_try_advisory_xact_lock(hashtextextended('campaign tallies of ' || campaign_id, 0))
	), gone as (
		delete from campaign_tallies t using due join ours using (project_id, campaign_id)
		where t.project_id = due.project_id and t.campaign_id = due.campaign_id and t.id = due.id
		returning t.*
	), folded as (
		insert into campaign_counts as c (project_id, campaign_id, ${columns})
		select project_id, campaign_id, ${countNames.map((name) => `sum(${name})`).join(', ')}
		from gone group by project_id, campaign_id
		on conflict (project_id, campaign_id) do update
			set ${countNames.map((name) => `${name} = c.${name} + excluded.${name}`).join(', ')}
	)
	select count(*)::int as removed from gone`,
)

/** What settled in these last seconds tells the rate. */
const rateSeconds = 10

export interface Progress {
	total: number
	pending: number
	sending: number
	uncertain: number
	sent: number
	failed: number
	skipped: number
	paused: boolean
	ratePerSecond: number
	etaSeconds: number | null
}

/**
 * In one snapshot, so that the states always come to the total: recipients that have no row yet are
 * pending, and what is pending of a cancelled campaign will never go. $1 project, $2 campaign
 */
export const progressOf = statement<Progress>(
	'campaign-progress',
	`with campaign as (
		select k.id, k.project_id, status, paused_at is not null and status = 'SENDING' as paused, n.*,
			case when materialised_at is null then greatest(0, total_recipients
				- (n.pending + n.sending + n.uncertain + n.sent + n.failed + n.skipped)) else 0 end as rowless
		from campaigns k cross join lateral ${countsOf} n
		where k.project_id = $1 and k.id = $2::uuid and k.deleted_at is null
	), recently as (
		select coalesce(-sum(t.pending + t.sending), 0) / least(${rateSeconds}.0, greatest(1,
			extract(epoch from clock_timestamp() - min(uuid_extract_timestamp(t.id))))) as rate
		from campaign k join campaign_tallies t on t.project_id = k.project_id and t.campaign_id = k.id
		where k.status = 'SENDING' and t.pending + t.sending <= 0
			and t.id > (select uuidv7('-${rateSeconds} seconds'))
	), told as (
		select sending, uncertain, sent, failed, paused,
			case when status = 'CANCELLED' then 0 else pending + rowless end as pending,
			case when status = 'CANCELLED' then skipped + pending + rowless else skipped end as skipped,
			round(greatest(rate, 0), 1)::float8 as rate
		from campaign cross join recently
	)
	select pending + sending + uncertain + sent + failed + skipped as total,
		pending, sending, uncertain, sent, failed, skipped, paused, rate as "ratePerSecond",
		case when pending + sending = 0 then 0
			when rate > 0 and not paused then ceil((pending + sending) / rate) end::int as "etaSeconds"
	from told`,
)

export interface Stats {
	totalRecipients: number
	sent: number
	delivered: number
	opened: number
	clicked: number
	bounced: number
	complained: number
	unsubscribed: number
	failed: number
}

/** $1 project, $2 campaign */
export const statsOf = statement<Stats>(
	'campaign-stats',
	`select k.total_recipients as "totalRecipients", n.sent, n.delivered, n.opened, n.clicked, n.bounced,
		n.complained, n.unsubscribed, n.failed
	from campaigns k cross join lateral ${countsOf} n
	where k.project_id = $1 and k.id = $2::uuid and k.deleted_at is null`,
)
