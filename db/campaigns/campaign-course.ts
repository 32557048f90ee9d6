import type { Pool } from 'pg'
import { bool, float, int, text, timestamp, uuid } from '../sql-types.ts'
import { query, sql, type Sql } from '../sql.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import type { CampaignKey } from './campaign-actions.ts'
import { audienceColumns, audiencePredicate, selectAudience } from './campaign-audience.ts'
import type { campaignStatuses, pausedReasons } from './campaign.ts'

export const courseOf = statement('course-of-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: {
		status: text.of<(typeof campaignStatuses)[number]>(),
		/** The time until it is due; 0: it is due. */
		due_in_ms: float,
		disabled: bool,
		paused: bool,
		paused_reason: text.of<(typeof pausedReasons)[number]>().orNull,
		materialised: bool,
		closed: bool,
		lanes: int,
		total: int,
		pending: int,
		sending: int,
	},
	text: `select k.status, p.disabled_reason is not null or p.deleted_at is not null as disabled,
		k.paused_at is not null as paused, k.paused_reason, k.materialised_at is not null as materialised,
		k.closed_at is not null as closed, coalesce(cardinality(k.lane_bounds), 0) + 1 as lanes,
		k.total_recipients as total, n.pending, n.sending,
		greatest(0, coalesce(ceil(extract(epoch from k.scheduled_for - now()) * 1000), 0))::float8 as due_in_ms
	from campaigns k join projects p on p.id = k.project_id cross join lateral counts_of_campaign(k.project_id, k.id) n
	where k.project_id = $projectId and k.id = $campaignId`,
})

const contactsAtOnce = 5000
const materialising = `project_id = $projectId and id = $campaignId and status = 'SENDING'
	and materialised_at is null`

/** A contact was deleted after it was read. */
const foreignKeyViolation = '23503'

/**
 * Reads the next few thousand contacts and creates rows for those in the audience, in the transaction that
 * records the progress. So two workers on the same campaign take turns, chunk by chunk. False: no contacts
 * are left, or the campaign must not continue.
 *
 * A contact that is deleted between reading and its row fails the chunk. Then the contacts are read again
 * with locks, which costs a write for each of them.
 */
export async function materialiseChunk(pool: Pool, projectId: string, campaignId: string) {
	try {
		return await writeChunk(pool, projectId, campaignId, sql``)
	} catch (error) {
		if ((error as { code?: string }).code !== foreignKeyViolation) throw error
		return writeChunk(pool, projectId, campaignId, sql`for key share`)
	}
}

const makeMails = query('materialise-chunk', { id: uuid })

const writeChunk = (pool: Pool, projectId: string, campaignId: string, hold: Sql) =>
	transaction(pool, async (db) => {
		const [campaign] = await lockMaterialising(db, { projectId, campaignId })
		if (!campaign) return false
		const { startedAt } = campaign
		const isMeant = await audiencePredicate(db, projectId, campaign, startedAt)
		const [project, id] = [uuid.value(projectId), uuid.value(campaignId)]
		const rows = await makeMails(
			db,
			sql`with looked as materialized (
				select * from contacts
				where project_id = ${project} and created_at <= ${timestamp.value(startedAt)}
					and id > (select coalesce(materialised_until, '00000000-0000-0000-0000-000000000000')
						from campaigns where project_id = ${project} and id = ${id})
				order by id limit ${int.value(contactsAtOnce)} ${hold}
			), made as (
				insert into emails (project_id, contact_id, "to", "from", from_name, reply_to, subject,
					content_language, language, type, source_type, template_id, campaign_id)
				select ${project}, c.id, c.email, k."from", coalesce(k.from_name, k.project_name), k.reply_to, k.subject,
					k.content_language, k.language, k.type, 'CAMPAIGN', k.template_id, k.id
				from campaigns k, looked c
				where k.project_id = ${project} and k.id = ${id} and ${isMeant}
				order by c.id
				on conflict (campaign_id, contact_id) where campaign_id is not null do nothing
			)
			update campaigns set materialised_until = last.id
			from (select id from looked order by id desc limit 1) last
			where campaigns.project_id = ${project} and campaigns.id = ${id}
			returning campaigns.id`,
		)
		return rows.length > 0
	})

const lockMaterialising = statement('lock-materialising-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: { ...audienceColumns, startedAt: timestamp.notNull('a campaign that is SENDING has one') },
	text: `select ${selectAudience}, started_at as "startedAt" from campaigns
	where ${materialising} for no key update`,
})

/** Fewer mails don't justify a lane of their own. */
const mailsOfLane = 2500
const mostLanes = 4

/** All recipients are in the ledger: sets the total and divides them into lanes of equal length. */
export const finishMaterialising = statement('finish-materialising', {
	params: { projectId: uuid, campaignId: uuid },
	row: { id: uuid },
	text: `with rows as (
		select n.pending + n.sending + n.uncertain + n.sent + n.failed + n.skipped as count
		from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) n where k.project_id = $projectId
			and k.id = $campaignId
	)
	update campaigns set materialised_at = now(), total_recipients = rows.count, lane_bounds = (
		select array_agg(bound.contact_id order by lane) from rows, lateral (
			select greatest(1, least(${mostLanes}, rows.count / ${mailsOfLane})) as count) lanes,
			generate_series(1, lanes.count - 1) lane, lateral (
				select contact_id from emails where campaign_id = $campaignId
				order by contact_id limit 1 offset rows.count::bigint * lane / lanes.count - 1) bound)
	from rows where ${materialising}
	returning id`,
})

/** Cancels the mails of contacts deleted meanwhile, since no lane reaches them. */
export const dropDeleted = statement('drop-mails-of-deleted-contacts', {
	params: { projectId: uuid, campaignId: uuid },
	text: `update emails set status = 'CANCELLED', error = 'The contact was deleted', updated_at = now()
	where project_id = $projectId and campaign_id = $campaignId and contact_id is null
		and status = 'PENDING'`,
})

const doubtLeft = (name: string, among: string) =>
	statement(name, {
		params: { projectId: uuid, campaignId: uuid },
		text: `with doubted as (
			update emails set status = 'UNCERTAIN', updated_at = now(),
				error = 'The worker went away between the hand-over and its record'
			where project_id = $projectId and campaign_id = $campaignId and ${among}
				and status = 'SENDING'
				and attempt_started_at < now() - interval '2 minutes'
			returning *
		)
		insert into attempts (project_id, email_id, attempt, at, outcome, provider, error)
		select project_id, id, attempt, attempt_started_at, 'UNKNOWN', provider, error from doubted
		on conflict do nothing`,
	})

/** The same for those that a lost worker was handing over: they come into doubt. */
export const doubtDeleted = doubtLeft('doubt-mails-of-deleted-contacts', 'contact_id is null')

/** The same for a cancelled campaign that no worker processes any more. */
export const doubtCancelled = doubtLeft('doubt-mails-of-cancelled-campaign', 'true')

const lockSending = statement('lock-sending-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	text: `select from campaigns where project_id = $projectId and id = $campaignId
		and status = 'SENDING' for no key update`,
})

const finishIfSettled = statement('finish-sending-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	text: `update campaigns k set status = 'SENT', sent_at = now(), closed_at = now(), updated_at = now()
	from (select n.pending + n.sending as open from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) n
		where k.project_id = $projectId and k.id = $campaignId) n
	where k.project_id = $projectId and k.id = $campaignId and k.status = 'SENDING'
		and k.materialised_at is not null
		and n.open = 0`,
})

/**
 * Ends a campaign once all its recipients are settled. They are counted under a lock, so that no decision
 * can send a mail in doubt again meanwhile.
 */
export const finishSending = (pool: Pool, { projectId, campaignId }: CampaignKey) =>
	transaction(pool, async (db) => {
		await lockSending(db, { projectId, campaignId })
		await finishIfSettled(db, { projectId, campaignId })
	})

const cancelledAtOnce = 5000

/**
 * The next few thousand unsent mails of a cancelled campaign, in order of contacts. No row: there were
 * none.
 */
export const cancelChunk = statement('cancel-campaign-chunk', {
	params: { projectId: uuid, campaignId: uuid, after: uuid },
	row: { last: uuid.orNull },
	text: `with looked as (
		select project_id, id, contact_id, status from emails
		where campaign_id = $campaignId and contact_id > $after::uuid order by contact_id
			limit ${cancelledAtOnce}
	), cancelled as (
		update emails e set status = 'CANCELLED', error = 'The campaign was cancelled', updated_at = now()
		from looked l where e.project_id = l.project_id and e.id = l.id and l.status = 'PENDING'
			and e.status = 'PENDING'
			and exists (select from campaigns where project_id = $projectId and id = $campaignId
				and status = 'CANCELLED')
	)
	select (select contact_id from looked order by contact_id desc limit 1) as last`,
})

export const close = statement('close-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	text: `update campaigns set closed_at = now() where project_id = $projectId and id = $campaignId
		and status in ('SENT', 'CANCELLED') and closed_at is null`,
})
