import { addressOf } from './audience-pages.ts'
import { contactDeleted } from '../emails/email.ts'
import { keyLifeHours, startedAt, triedForMs } from '../emails/ledger.ts'
import { bool, float, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { workersAlive } from '../worker-heartbeat.ts'

// The statements that change campaign mails in the ledger. They are like those for single mails, but work
// on slices of a lane. A lane is a range of contacts, processed in order. Everything is a compare-and-set
// on status and attempt, so any two workers may process the same lane.

export type CampaignLane = RowOf<typeof campaignLane>

const first = '00000000-0000-0000-0000-000000000000'
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The lane's range, and the content of its mails. */
export const campaignLane = statement('campaign-lane', {
	params: { projectId: uuid, campaignId: uuid, lane: int },
	row: {
		subject: text,
		body: text,
		from: text,
		from_name: text.orNull,
		reply_to: text.orNull,
		type: text.of<'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'>(),
		content_language: text,
		language: text.notNull('set when the campaign starts'),
		postal_address: text.orNull,
		/** Whether opens and clicks are tracked. */
		tracked: bool,
		send_rate_per_second: float.orNull,
		/** The lane starts after this contact. */
		after: uuid,
		/** The lane ends with this contact. */
		until: uuid,
		/** Live workers, which share the lanes. */
		workers: text.array,
	},
	text: `select k.subject, k.body, k."from", coalesce(nullif(k.from_name, ''), k.project_name) as from_name, k.reply_to,
		k.type, coalesce(k.content_language, k.language) as content_language, k.language, k.postal_address,
		p.send_rate_per_second,
		k.tracking = 'ENABLED' or k.tracking = 'MARKETING_ONLY' and k.type = 'MARKETING' as tracked,
		coalesce(k.lane_bounds[$lane::int], '${first}') as after,
		coalesce(k.lane_bounds[$lane::int + 1], '${last}') as until,
		${workersAlive} as workers
	from campaigns k join projects p on p.id = k.project_id
	where k.project_id = $projectId and k.id = $campaignId
		and (k.lane_bounds is not null or k.materialised_at is not null)`,
})

/** Whether campaign `k` of project `p` is being sent. */
const isUnderWay = `k.status = 'SENDING' and k.paused_at is null and p.disabled_reason is null
	and p.deleted_at is null`

const laneParams = { projectId: uuid, campaignId: uuid, after: uuid, until: uuid }

const sliceParams = {
	...laneParams,
	limit: int,
	provider: text,
	tracked: bool,
	/** Their batch, if any. */
	batchId: uuid.orNull,
}

const claimedMailColumns = {
	id: uuid,
	contact_id: uuid.notNull('mails without a contact are in no lane'),
	/**
	 * SENDING: this worker may send it. Mails with other statuses are settled, with a reason, or may not be repeated if their
	 * batch was taken over.
	 */
	status: text.of<'SENDING' | 'SUPPRESSED' | 'CANCELLED'>(),
	attempt: int,
	to: text,
	created_at: timestamp,
	tried_for_ms: float,
	email: text,
	subscribed: bool,
	data: json<Record<string, unknown>>(),
}
export type ClaimedMail = RowOf<typeof claimedMailColumns>

/** Why the mail of campaign `k` of project `p` to contact `c` may not be sent. */
const barredOf = `cross join (select disabled_reason, owner_verified from projects where id = $projectId) p
		cross join (select type from campaigns where project_id = $projectId and id = $campaignId) k
		left join lateral (
			select reason from suppressions where project_id = $projectId and email = c.email offset 0
		) s on true
		cross join lateral (
			select may_send(p.disabled_reason, s.reason, needs_consent(k.type, 'CAMPAIGN'), c.subscribed, c.email,
				p.owner_verified, $provider::text) as because) barred`

/**
 * Looked up one by one, whatever the planner assumes. While a large campaign is new, these tables have no
 * statistics, and the planner would read all their rows for each slice.
 */
const contactOf = (mail: string) => `(
		select email, subscribed, data from contacts
		where project_id = $projectId and id = ${mail}.contact_id offset 0
	)`

const claimedColumns = `id, contact_id, status, attempt, "to", created_at, tried_for_ms, email, subscribed, data`

/**
 * Mails are born here: this takes the next contacts of a lane from its first page, and writes their mails
 * with an open attempt, immediately before the hand-over. Mails that may not be sent are born settled.
 * Returns nothing at the end of the lane, or once the campaign is paused or cancelled, or its project is
 * disabled.
 */
export const bearSlice = statement('bear-campaign-slice', {
	params: sliceParams,
	row: { ...claimedMailColumns, contact_id: uuid, status: text.of<ClaimedMail['status']>() },
	text: `with counting as materialized (
		select count_itself() as begun
	), page as materialized (
		select until, taken, size from audience_pages
		where project_id = $projectId and campaign_id = $campaignId and until > $after and until <= $until
			and exists (select from campaigns k join projects p on p.id = k.project_id
				where k.project_id = $projectId and k.id = $campaignId and ${isUnderWay})
		order by until limit 1 for update skip locked
	), advanced as (
		update audience_pages a set taken = page.taken + $limit::int from page
		where a.project_id = $projectId and a.campaign_id = $campaignId and a.until = (select until from page)
			and page.taken + $limit < page.size
		returning a.contact_ids[page.taken + 1 : page.taken + $limit] as contact_ids
	), ended as (
		delete from audience_pages a using page
		where a.project_id = $projectId and a.campaign_id = $campaignId and a.until = (select until from page)
			and page.taken + $limit >= page.size
		returning a.contact_ids[page.taken + 1 : page.size] as contact_ids
	), slice as materialized (
		select uuidv7() as id, place.contact_id, c.contact_id as present,
			${addressOf('place.contact_id', 'for key share')} as email,
			coalesce(c.subscribed, false) as subscribed, coalesce(c.data, '{}') as data,
			case when c.contact_id is null then 'CANCELLED' when barred.because is null then 'SENDING'
				else barred_status(p.disabled_reason, s.reason) end as status,
			case when c.contact_id is null then '${contactDeleted}' else barred.because end as error,
			case when c.contact_id is null or barred.because is not null then now()::timestamptz(3) end as settled_at,
			now()::timestamptz(3) as born_at
		from (select contact_ids from advanced union all select contact_ids from ended limit 1) taken
		cross join lateral unnest(taken.contact_ids) as place(contact_id)
		left join lateral (
			select id as contact_id, email, subscribed, data from contacts
			where project_id = $projectId and id = place.contact_id offset 0 for key share) c on true
		${barredOf}
	), born as (
		insert into emails (project_id, id, contact_id, "to", headers, language, type, source_type, campaign_id, status,
			error, attempt, attempt_started_at, first_attempt_at, provider, tracked, batch_id, created_at, updated_at,
			granted_attempt, opens, clicks, prefetches)
		select $projectId, id, present, email, null, null, null, null, $campaignId, status,
			error, (status = 'SENDING')::int, settled_at, settled_at, $provider, $tracked::bool, $batchId::uuid, born_at, null,
			null, null, null, null
		from slice where (select begun from counting)
		order by contact_id
	), states_counted as (
		insert into campaign_tallies (project_id, campaign_id, sending, skipped)
		select $projectId, $campaignId, count(*) filter (where status = 'SENDING'),
			count(*) filter (where status <> 'SENDING')
		from slice having count(*) > 0
	), mails_counted as (
		insert into mail_tallies (project_id, slot, created)
		select $projectId, quarter_of(born_at), count(*) from slice group by born_at
	)
	select id, contact_id, status, (status = 'SENDING')::int as attempt, email as "to", born_at as created_at,
		0::float8 as tried_for_ms, email, subscribed, data
	from slice order by contact_id`,
})

/**
 * Opens attempts for a lane's next mails that are in the ledger and wait for another try, immediately
 * before the hand-over, and settles mails that may not be sent. Each mail gets its contact's current
 * address, and keeps it from here on. Returns nothing once the campaign is paused or cancelled, or its
 * project is disabled.
 */
export const claimSlice = statement('claim-campaign-slice', {
	params: sliceParams,
	row: claimedMailColumns,
	text: `with slice as materialized (
		select e.id as mail_id, c.*,
			case when barred.because is null then 'SENDING'
				else barred_status(p.disabled_reason, s.reason) end as status,
			barred.because as error
		from (
			select id, contact_id from emails
			where campaign_id = $campaignId and contact_id > $after and contact_id <= $until
				and due_at <= now() and status = 'PENDING'
				and exists (select from campaigns k join projects p on p.id = k.project_id
					where k.project_id = $projectId and k.id = $campaignId and ${isUnderWay})
			order by contact_id limit $limit::int
		) e
		cross join lateral ${contactOf('e')} c
		${barredOf}
	), claimed as (
		update emails e set status = slice.status, error = slice.error, "to" = slice.email, updated_at = now(),
			attempt = e.attempt + (slice.status = 'SENDING')::int, attempt_started_at = now(),
			first_attempt_at = coalesce(e.first_attempt_at, now()), due_at = null, provider = $provider::text,
			tracked = $tracked::bool, batch_id = $batchId::uuid
		from slice
		where e.project_id = $projectId and e.id = any(array(select mail_id from slice)) and e.id = slice.mail_id
			and e.status = 'PENDING'
		returning e.id, e.contact_id, e.status, e.attempt, e."to", e.created_at,
			${triedForMs('e.first_attempt_at')}, slice.email, slice.subscribed, slice.data
	)
	select ${claimedColumns} from claimed order by contact_id`,
})

const laneIs = `e.campaign_id = $campaignId and e.contact_id > $after and e.contact_id <= $until`

/** Whether mails of a lane can still be born. */
export const birthsInLane = statement('births-in-campaign-lane', {
	params: laneParams,
	row: {
		/** False: paused, cancelled or disabled. */
		may_send: bool,
		has_pages: bool,
		/** The whole audience has been frozen. */
		is_frozen: bool,
	},
	text: `select ${isUnderWay} as may_send, k.materialised_at is not null as is_frozen,
		exists (select from audience_pages where project_id = $projectId and campaign_id = $campaignId
			and until > $after and until <= $until) as has_pages
	from campaigns k join projects p on p.id = k.project_id
	where k.project_id = $projectId and k.id = $campaignId`,
})

const restColumns = {
	/** False: paused, cancelled or disabled. */
	may_send: bool,
	pending: int,
	sending: int,
	/** The time until the first pending mail is due. */
	due_in_ms: float,
	/** The provider's answer for a mail that is not due yet. */
	answer: text.orNull,
	/** Contacts of the lane whose mails are not in the ledger yet. */
	to_come: int,
	/** Mails of the whole campaign that are being handed over. */
	in_hand: int,
}

const restOf = (mails: string) => `select
		(select coalesce(sum(size - taken), 0)::int from audience_pages
			where project_id = $projectId and campaign_id = $campaignId
				and until > $after and until <= $until) as to_come,
		exists (select from campaigns k join projects p on p.id = k.project_id
			where k.project_id = $projectId and k.id = $campaignId and ${isUnderWay}) as may_send,
		(select sending::int from states_of_campaign($projectId, $campaignId)) as in_hand,
		count(*) filter (where status = 'PENDING')::int as pending,
		count(*) filter (where status = 'SENDING')::int as sending,
		greatest(0, coalesce(ceil(1000 * extract(epoch from
			min(coalesce(due_at, now())) filter (where status = 'PENDING') - now())), 0))::float8 as due_in_ms,
		min(error) filter (where status = 'PENDING' and due_at > now()) as answer
	from emails e where ${laneIs} and ${mails}`

/** The mails of a lane that wait for another try: only they have a due time. */
export const waitingInLane = statement('waiting-in-campaign-lane', {
	params: laneParams,
	row: restColumns,
	text: restOf(`due_at is not null and status = 'PENDING'`),
})

/** The mails of a lane that are not settled. This reads all mails of the lane. */
export const restOfLane = statement('rest-of-campaign-lane', {
	params: laneParams,
	row: restColumns,
	text: restOf(`status in ('PENDING', 'SENDING')`),
})

/** Mails to which the release before gave no due time, so that its lanes would find them. */
export const setDue = statement('set-campaign-mails-due', {
	params: laneParams,
	text: `update emails e set due_at = now()
	where ${laneIs} and project_id = $projectId and status = 'PENDING' and due_at is null`,
})

/** Mails that a worker is handing over, or was handing over when it was lost. */
export const sendingInLane = statement('sending-in-campaign-lane', {
	params: laneParams,
	row: {
		id: uuid,
		attempt: int,
		batch_id: uuid.orNull,
		/** The provider may have forgotten the key. A new attempt gets a new one, so the attempt's age counts. */
		is_old: bool,
		updated_at: timestamp,
	},
	text: `select id, attempt, batch_id, coalesce(updated_at, created_at) as updated_at,
		${startedAt} < now() - interval '${keyLifeHours} hours' as is_old
	from emails e where ${laneIs} and project_id = $projectId and status = 'SENDING'`,
})

/**
 * Takes over a batch that may have been handed over, to repeat it under its key. It
 * takes the whole batch: for a part, the provider would answer that the key belongs to other content,
 * which is also its answer for a batch that it accepted. So all mails get one common time, later than any
 * of their own, and keep their addresses, whatever their contacts have now. The attempt number stays. Mails
 * that may not be sent any more have another status here, and stay SENDING in the ledger. If
 * two workers try, only one succeeds, and none once the campaign is paused or cancelled, or its project is
 * disabled.
 */
export const takeBatchOver = statement('take-campaign-batch-over', {
	params: {
		projectId: uuid,
		campaignId: uuid,
		batchId: uuid,
		writtenAt: timestamp,
		provider: text,
	},
	row: claimedMailColumns,
	text: `with taken as (
		update emails e set updated_at = greatest(now(), $writtenAt::timestamptz + interval '1 ms')
		from contacts c
		where e.project_id = $projectId and e.campaign_id = $campaignId and e.batch_id = $batchId
			and e.status = 'SENDING' and coalesce(e.updated_at, e.created_at) <= $writtenAt
			and exists (select from campaigns k join projects p on p.id = k.project_id
				where k.project_id = $projectId and k.id = $campaignId and ${isUnderWay})
			and c.project_id = $projectId and c.id = e.contact_id
		returning e.id, e.contact_id, e.attempt, e."to", e.created_at,
			${triedForMs('coalesce(e.first_attempt_at, e.created_at)')}, e."to" as email, c.subscribed, c.data
	)
	select ${claimedColumns} from (
		select c.*, case when barred.because is null then 'SENDING'
			else barred_status(p.disabled_reason, s.reason) end as status
		from taken c
		${barredOf}
	) mails order by contact_id`,
})

/**
 * Reserves send rate for some mails, by virtual scheduling on the project's only row. Returns the wait
 * until the first may be sent.
 */
export const reserveRate = statement('reserve-send-rate', {
	params: { projectId: uuid, count: int, perSecond: float },
	row: { wait_ms: float },
	text: `insert into send_budgets as b (project_id, next_at)
	values ($projectId, clock_timestamp() + make_interval(secs => $count::int / $perSecond::float8))
	on conflict (project_id) do update set next_at =
		greatest(b.next_at, clock_timestamp()) + make_interval(secs => $count::int / $perSecond::float8)
	returning greatest(0, 1000 * (
		extract(epoch from next_at - clock_timestamp()) - $count::int / $perSecond::float8))::float8
		as wait_ms`,
})
