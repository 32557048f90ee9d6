import { keyLifeHours, sentEventData } from '../emails/ledger.ts'
import { statement } from '../statement.ts'

// The ledger's moves for campaigns: the same as for single mails, by slices of a lane. A lane is a range
// of contacts, through which it goes in their order. All is compare-and-set on status and attempt, so
// that any two workers may be at the same lane.

export interface CampaignLane {
	subject: string
	body: string
	from: string
	from_name: string | null
	reply_to: string | null
	type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
	content_language: string
	language: string
	postal_address: string | null
	/** Opens and clicks are followed. */
	tracked: boolean
	send_rate_per_second: number | null
	/** Behind this contact it begins. */
	after: string
	/** With this one it ends. */
	until: string
}

const first = '00000000-0000-0000-0000-000000000000'
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** What the lane's mails are made of, and where it lies. $1 project, $2 campaign, $3 lane, from 0 */
export const campaignLane = statement<CampaignLane>(
	'campaign-lane',
	`select k.subject, k.body, k."from", coalesce(k.from_name, k.project_name) as from_name, k.reply_to,
		k.type, coalesce(k.content_language, k.language) as content_language, k.language, k.postal_address,
		p.send_rate_per_second,
		k.tracking = 'ENABLED' or k.tracking = 'MARKETING_ONLY' and k.type = 'MARKETING' as tracked,
		coalesce(k.lane_bounds[$3::int], '${first}') as after,
		coalesce(k.lane_bounds[$3::int + 1], '${last}') as until
	from campaigns k join projects p on p.id = k.project_id
	where k.project_id = $1 and k.id = $2 and k.materialised_at is not null`,
)

/** May it be handed over? For campaign `k` of project `p`. */
const maySend = `k.status = 'SENDING' and k.paused_at is null and p.disabled_reason is null
	and p.deleted_at is null`

export interface ClaimedMail {
	id: string
	contact_id: string
	/** SENDING: it is ours. The others are settled, with their reason. */
	status: 'SENDING' | 'SUPPRESSED' | 'CANCELLED'
	attempt: number
	to: string
	created_at: Date
	first_attempt_at: Date
	email: string
	subscribed: boolean
	data: Record<string, unknown>
}

/**
 * Looked up one by one, whatever the planner believes: while a large campaign is new, it knows nothing
 * yet of these tables, and would rather read all of them for each slice.
 */
const contactOf = (mail: string) => `(
		select email, subscribed, data from contacts
		where project_id = $1 and id = ${mail}.contact_id offset 0
	)`

const claimedColumns = `id, contact_id, status, attempt, "to", created_at, first_attempt_at, email, subscribed, data`

/**
 * Opens the attempts of a lane's next mails, immediately before the hand-over, and settles those among
 * them that must not go. Each goes to the address its contact has now, which the row keeps from here on.
 * Nothing once the campaign is paused, cancelled, or its project disabled.
 * $1 project, $2 campaign, $3 behind this contact, $4 up to this one, $5 how many, $6 provider,
 * $7 whether they are tracked, $8 a batch to which they belong, or null
 */
export const claimSlice = statement<ClaimedMail>(
	'claim-campaign-slice',
	`with slice as materialized (
		select e.place, c.*,
			case when s.reason is not null then 'SUPPRESSED'
				when not c.subscribed and e.type <> 'TRANSACTIONAL' then 'CANCELLED'
				else 'SENDING' end as status,
			case when s.reason is not null then 'The address is on the suppression list: ' || s.reason
				when not c.subscribed and e.type <> 'TRANSACTIONAL' then 'The contact is not subscribed'
				end as error
		from (
			select ctid as place, contact_id, type from emails
			where campaign_id = $2 and contact_id > $3 and contact_id <= $4
				and status = 'PENDING' and (due_at is null or due_at <= now())
				and exists (select from campaigns k join projects p on p.id = k.project_id
					where k.project_id = $1 and k.id = $2 and ${maySend})
			order by contact_id limit $5::int
		) e
		cross join lateral ${contactOf('e')} c
		left join lateral (
			select reason from suppressions where project_id = $1 and email = c.email offset 0
		) s on true
	), claimed as (
		update emails e set status = slice.status, error = slice.error, "to" = slice.email, updated_at = now(),
			attempt = e.attempt + (slice.status = 'SENDING')::int, attempt_started_at = now(),
			first_attempt_at = coalesce(e.first_attempt_at, now()), provider = $6::text, tracked = $7::bool, batch_id = $8::uuid
		from slice where e.ctid = slice.place and e.status = 'PENDING'
		returning e.id, e.contact_id, e.status, e.attempt, e."to", e.created_at, e.first_attempt_at,
			slice.email, slice.subscribed, slice.data
	)
	select ${claimedColumns} from claimed order by contact_id`,
)

/**
 * How mails that the provider took went into the ledger, with the event that follows. A first attempt
 * that went well needs no row among the attempts: the mail's own tells all of it. With Resend it has
 * one, because its events name a mail by Resend's id, which is looked up there. Whatever somebody
 * doubted meanwhile is settled by this, as long as no newer attempt was opened.
 * $1 project, $2 ids, $3 of each id [attempt, the provider's id, subject as rendered or null where it is
 * the campaign's, what went wrong in rendering or null]; in this form because the planner, who does not
 * know how many they are, would join them one by one with each other
 */
export const recordSent = statement(
	'record-campaign-sent',
	`with recorded as (
		update emails e set status = 'SENT', sent_at = now(), updated_at = now(), error = null,
			(provider_message_id, subject, render_fault) = (
				select o->>1, coalesce(o->>2, e.subject), o->>3 from (select $3::jsonb -> e.id::text as o))
		where e.project_id = $1 and e.id = any($2::uuid[])
			and e.attempt = ($3::jsonb -> e.id::text ->> 0)::int
			and e.status in ('SENDING', 'UNCERTAIN', 'PENDING')
		returning e.*, old.status as before
	), noted as (
		insert into attempts (project_id, email_id, attempt, at, outcome, provider, provider_message_id)
		select project_id, id, attempt, attempt_started_at, 'SENT', provider, provider_message_id
		from recorded where attempt > 1 or before <> 'SENDING' or provider = 'resend'
		on conflict (project_id, email_id, attempt) do update
			set outcome = 'SENT', provider_message_id = excluded.provider_message_id, error = null
	)
	insert into events (project_id, name, contact_id, email_id, data)
	select project_id, 'email.sent', contact_id, id, ${sentEventData} from recorded`,
)

const laneIs = `e.campaign_id = $2 and e.contact_id > $3 and e.contact_id <= $4`

export interface LaneRest {
	/** False: paused, cancelled, disabled. */
	may_send: boolean
	pending: number
	sending: number
	/** Until the first that is pending is due. */
	due_in_ms: number
	/** What the provider said of one that is not due yet. */
	answer: string | null
}

/** What is not settled of a lane. $1 project, $2 campaign, $3 behind this contact, $4 up to this one */
export const restOfLane = statement<LaneRest>(
	'rest-of-campaign-lane',
	`select
		exists (select from campaigns k join projects p on p.id = k.project_id
			where k.project_id = $1 and k.id = $2 and ${maySend}) as may_send,
		count(*) filter (where status = 'PENDING')::int as pending,
		count(*) filter (where status = 'SENDING')::int as sending,
		greatest(0, coalesce(ceil(1000 * extract(epoch from
			min(coalesce(due_at, now())) filter (where status = 'PENDING') - now())), 0))::float8 as due_in_ms,
		min(error) filter (where status = 'PENDING' and due_at > now()) as answer
	from emails e where ${laneIs} and status in ('PENDING', 'SENDING')`,
)

export interface Orphan {
	id: string
	attempt: number
	batch_id: string | null
	/** The provider may have forgotten its batch, whose key each attempt has anew. */
	is_old: boolean
	updated_at: Date
}

/**
 * Mails that some worker has in its hands, or had when it went away. $1 project, $2 campaign, $3 behind
 * this contact, $4 up to this one
 */
export const sendingInLane = statement<Orphan>(
	'sending-in-campaign-lane',
	`select id, attempt, batch_id, updated_at,
		attempt_started_at < now() - interval '${keyLifeHours} hours' as is_old
	from emails e where ${laneIs} and project_id = $1 and status = 'SENDING'`,
)

/**
 * Takes over a batch that may have been handed over, to repeat it letter by letter under its own key:
 * all of it, for of a part the provider would say that its key had another content, as it does of what
 * it has taken. So all its mails get one time, later than any of theirs was, and keep their addresses,
 * whatever their contacts have by now.
 * The same attempt goes on; of two who want it, one gets it, and nobody once the campaign is paused,
 * cancelled, or its project disabled.
 * $1 project, $2 campaign, $3 batch, $4 when the last of its mails was written
 */
export const takeBatchOver = statement<ClaimedMail>(
	'take-campaign-batch-over',
	`with taken as (
		update emails e set updated_at = greatest(now(), $4::timestamptz + interval '1 ms')
		from contacts c
		where e.project_id = $1 and e.campaign_id = $2 and e.batch_id = $3 and e.status = 'SENDING'
			and e.updated_at <= $4
			and exists (select from campaigns k join projects p on p.id = k.project_id
				where k.project_id = $1 and k.id = $2 and ${maySend})
			and c.project_id = $1 and c.id = e.contact_id
		returning e.id, e.contact_id, e.status, e.attempt, e."to", e.created_at, e.first_attempt_at,
			e."to" as email, c.subscribed, c.data
	)
	select ${claimedColumns} from taken order by contact_id`,
)

/**
 * Reserves send rate for some mails, by virtual scheduling on the project's one row; returns how long to
 * wait until the first may leave. $1 project, $2 how many, $3 mails a second
 */
export const reserveRate = statement<{ wait_ms: number }>(
	'reserve-send-rate',
	`insert into send_budgets as b (project_id, next_at)
	values ($1, clock_timestamp() + make_interval(secs => $2::int / $3::float8))
	on conflict (project_id) do update set next_at =
		greatest(b.next_at, clock_timestamp()) + make_interval(secs => $2::int / $3::float8)
	returning greatest(0, 1000 * (extract(epoch from next_at - clock_timestamp()) - $2::int / $3::float8))::float8
		as wait_ms`,
)
