import type { Pool } from 'pg'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import type { CampaignKey } from './campaign-actions.ts'
import { type Audience, audienceColumns, audiencePredicate } from './campaign-audience.ts'
import { countsOf } from './campaign-counts.ts'
import type { campaignStatuses, pausedReasons } from './campaign.ts'

// What a campaign's run does to it, step by step. The row says which step is next, so that any run, of
// any number, may go on where another has stopped.

export interface Course {
	status: (typeof campaignStatuses)[number]
	/** Until its time comes; 0: it has. */
	due_in_ms: number
	disabled: boolean
	paused: boolean
	paused_reason: (typeof pausedReasons)[number] | null
	materialised: boolean
	closed: boolean
	lanes: number
	total: number
	pending: number
	sending: number
}

/** $1 project, $2 campaign */
export const courseOf = statement<Course>(
	'course-of-campaign',
	`select k.status, p.disabled_reason is not null or p.deleted_at is not null as disabled,
		k.paused_at is not null as paused, k.paused_reason, k.materialised_at is not null as materialised,
		k.closed_at is not null as closed, coalesce(cardinality(k.lane_bounds), 0) + 1 as lanes,
		k.total_recipients as total, n.pending, n.sending,
		greatest(0, coalesce(ceil(extract(epoch from k.scheduled_for - now()) * 1000), 0))::float8 as due_in_ms
	from campaigns k join projects p on p.id = k.project_id cross join lateral ${countsOf} n
	where k.project_id = $1 and k.id = $2`,
)

const contactsAtOnce = 5000
const materialising = `project_id = $1 and id = $2 and status = 'SENDING' and materialised_at is null`

/** A contact went after it was looked at. */
const foreignKeyViolation = '23503'

/**
 * The next few thousand contacts are looked at, and those of the audience get their rows, in the
 * transaction that notes how far it has come: two workers at the same campaign take turns, chunk by
 * chunk. False: nobody was left to look at, or it is not to be gone on with.
 *
 * A contact that is deleted between the look and its row fails the chunk. Then they are looked at once
 * more and held, which writes to every one of them.
 */
export async function materialiseChunk(pool: Pool, projectId: string, campaignId: string) {
	try {
		return await writeChunk(pool, projectId, campaignId, '')
	} catch (error) {
		if ((error as { code?: string }).code !== foreignKeyViolation) throw error
		return writeChunk(pool, projectId, campaignId, 'for key share')
	}
}

const writeChunk = (pool: Pool, projectId: string, campaignId: string, hold: string) =>
	transaction(pool, async (db) => {
		const [campaign] = await lockMaterialising(db, [projectId, campaignId])
		if (!campaign) return false
		const { sql, parameters } = await audiencePredicate(
			db,
			projectId,
			campaign,
			3,
			campaign.startedAt,
		)
		const { rows } = await db.query<{ id: string }>(
			`with looked as materialized (
				select * from contacts
				where project_id = $1 and created_at <= $3
					and id > (select coalesce(materialised_until, '00000000-0000-0000-0000-000000000000')
						from campaigns where project_id = $1 and id = $2)
				order by id limit ${contactsAtOnce} ${hold}
			), made as (
				insert into emails (project_id, contact_id, "to", "from", from_name, reply_to, subject,
					content_language, language, type, source_type, template_id, campaign_id)
				select $1, c.id, c.email, k."from", coalesce(k.from_name, k.project_name), k.reply_to, k.subject,
					k.content_language, k.language, k.type, 'CAMPAIGN', k.template_id, k.id
				from campaigns k, looked c where k.project_id = $1 and k.id = $2 and ${sql}
				order by c.id
				on conflict (campaign_id, contact_id) where campaign_id is not null do nothing
			)
			update campaigns set materialised_until = last.id
			from (select id from looked order by id desc limit 1) last
			where campaigns.project_id = $1 and campaigns.id = $2
			returning campaigns.id`,
			[projectId, campaignId, campaign.startedAt, ...parameters],
		)
		return rows.length > 0
	})

const lockMaterialising = statement<Audience & { startedAt: Date }>(
	'lock-materialising-campaign',
	`select ${audienceColumns}, started_at as "startedAt" from campaigns
	where ${materialising} for no key update`,
)

/** Fewer are not worth a lane of their own. */
const mailsOfLane = 2500
const mostLanes = 4

/**
 * The ledger has everybody: that is the total, and lanes of equal length share them.
 * $1 project, $2 campaign
 */
export const finishMaterialising = statement<{ id: string }>(
	'finish-materialising',
	`with rows as (
		select n.pending + n.sending + n.uncertain + n.sent + n.failed + n.skipped as count
		from campaigns k cross join lateral ${countsOf} n where k.project_id = $1 and k.id = $2
	)
	update campaigns set materialised_at = now(), total_recipients = rows.count, lane_bounds = (
		select array_agg(bound.contact_id order by lane) from rows, lateral (
			select greatest(1, least(${mostLanes}, rows.count / ${mailsOfLane})) as count) lanes,
			generate_series(1, lanes.count - 1) lane, lateral (
				select contact_id from emails where campaign_id = $2
				order by contact_id limit 1 offset rows.count::bigint * lane / lanes.count - 1) bound)
	from rows where ${materialising}
	returning id`,
)

/**
 * The mails of contacts that were deleted meanwhile, which no lane comes across.
 * $1 project, $2 campaign
 */
export const dropDeleted = statement(
	'drop-mails-of-deleted-contacts',
	`update emails set status = 'CANCELLED', error = 'The contact was deleted', updated_at = now()
	where project_id = $1 and campaign_id = $2 and contact_id is null and status = 'PENDING'`,
)

const doubtLeft = (name: string, among: string) =>
	statement(
		name,
		`with doubted as (
			update emails set status = 'UNCERTAIN', updated_at = now(),
				error = 'The worker went away between the hand-over and its record'
			where project_id = $1 and campaign_id = $2 and ${among} and status = 'SENDING'
				and attempt_started_at < now() - interval '2 minutes'
			returning *
		)
		insert into attempts (project_id, email_id, attempt, at, outcome, provider, error)
		select project_id, id, attempt, attempt_started_at, 'UNKNOWN', provider, error from doubted
		on conflict do nothing`,
	)

/** What a worker had of them in its hands when it went away, likewise. $1 project, $2 campaign */
export const doubtDeleted = doubtLeft('doubt-mails-of-deleted-contacts', 'contact_id is null')

/** The same of a campaign that nobody works at any more. $1 project, $2 campaign */
export const doubtCancelled = doubtLeft('doubt-mails-of-cancelled-campaign', 'true')

/** $1 project, $2 campaign */
const lockSending = statement(
	'lock-sending-campaign',
	`select from campaigns where project_id = $1 and id = $2 and status = 'SENDING' for no key update`,
)

/** $1 project, $2 campaign */
const finishIfSettled = statement(
	'finish-sending-campaign',
	`update campaigns k set status = 'SENT', sent_at = now(), closed_at = now(), updated_at = now()
	from (select n.pending + n.sending as open from campaigns k cross join lateral ${countsOf} n
		where k.project_id = $1 and k.id = $2) n
	where k.project_id = $1 and k.id = $2 and k.status = 'SENDING' and k.materialised_at is not null
		and n.open = 0`,
)

/**
 * Ends a campaign of which every recipient is settled. They are counted when nobody can take a mail out
 * of doubt any more, to be tried again.
 */
export const finishSending = (pool: Pool, { projectId, campaignId }: CampaignKey) =>
	transaction(pool, async (db) => {
		await lockSending(db, [projectId, campaignId])
		await finishIfSettled(db, [projectId, campaignId])
	})

const cancelledAtOnce = 5000

/**
 * The next few thousand unsent mails of a cancelled campaign, by the order of contacts. No row: there
 * were none. $1 project, $2 campaign, $3 the last contact so far
 */
export const cancelChunk = statement<{ last: string | null }>(
	'cancel-campaign-chunk',
	`with looked as (
		select project_id, id, contact_id, status from emails
		where campaign_id = $2 and contact_id > $3::uuid order by contact_id limit ${cancelledAtOnce}
	), cancelled as (
		update emails e set status = 'CANCELLED', error = 'The campaign was cancelled', updated_at = now()
		from looked l where e.project_id = l.project_id and e.id = l.id and l.status = 'PENDING'
			and e.status = 'PENDING'
			and exists (select from campaigns where project_id = $1 and id = $2 and status = 'CANCELLED')
	)
	select (select contact_id from looked order by contact_id desc limit 1) as last`,
)

/** $1 project, $2 campaign */
export const close = statement(
	'close-campaign',
	`update campaigns set closed_at = now() where project_id = $1 and id = $2
		and status in ('SENT', 'CANCELLED') and closed_at is null`,
)
