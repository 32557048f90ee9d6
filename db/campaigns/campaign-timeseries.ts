import { int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

const names = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'unsubscribed'] as const
const columns = names.join(', ')
const sums = names.map((name) => `sum(${name})::int as ${name}`).join(', ')

/**
 * The course of a campaign from its start to its latest change, in steps, and at most so many of them. It reads the
 * campaign's slots, and the tallies that are not folded yet.
 */
export const campaignTimeseries = statement('campaign-timeseries', {
	params: { projectId: uuid, campaignId: uuid, step: text, most: int },
	row: {
		at: timestamp,
		sent: int,
		delivered: int,
		opened: int,
		clicked: int,
		bounced: int,
		unsubscribed: int,
	},
	text: `with campaign as materialized (
		select started_at from campaigns
		where project_id = $projectId and id = $campaignId and started_at is not null
	), steps as materialized (
		select date_bin($step::text::interval, slot, '2000-01-01Z') as at, ${sums} from (
			select slot, ${columns} from campaign_slots
			where project_id = $projectId and campaign_id = $campaignId
			union all
			select slot_of_campaign(uuid_extract_timestamp(t.id), k.started_at), ${columns}
			from campaign_tallies t, campaign k
			where t.project_id = $projectId and t.campaign_id = $campaignId
		) counted group by 1
	), span as (
		select first, least(greatest(first, (select max(at) from steps)),
			first + ($most::int - 1) * $step::text::interval) as last
		from (select date_bin($step::text::interval, started_at, '2000-01-01Z') as first from campaign) began
	)
	select at, ${names.map((name) => `coalesce(${name}, 0) as ${name}`).join(', ')}
	from span cross join lateral generate_series(first, last, $step::text::interval) as g(at)
	left join steps using (at) order by at`,
})
