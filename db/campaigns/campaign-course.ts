import type { Pool } from 'pg'
import { isProvedSender } from '../domains/proved-sender.ts'
import { contactDeleted } from '../emails/email.ts'
import { keepStart, startedAt } from '../emails/ledger.ts'
import { bool, float, int, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { workersAlive } from '../worker-heartbeat.ts'
import type { CampaignKey } from './campaign-actions.ts'
import type { campaignStatuses, pausedReasons } from './campaign.ts'

/** A live worker has a mail in hand for less. */
const inHandAtMost = '2 minutes'

export const courseOf = statement('course-of-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: {
		status: text.of<(typeof campaignStatuses)[number]>(),
		/** The time until it is due; 0: it is due. */
		due_in_ms: float,
		/** Nothing has changed the campaign for so long that mails still in hand have lost their worker. */
		is_old: bool,
		disabled: bool,
		paused: bool,
		paused_reason: text.of<(typeof pausedReasons)[number]>().orNull,
		/** Whether the whole audience has been frozen. */
		materialised: bool,
		/** Whether its lanes have been set. */
		divided: bool,
		closed: bool,
		/** Whether the project has proved the sender's domain, and still has it. */
		proved: bool,
		lanes: int,
		/** Live workers, which share the lanes. */
		workers: text.array,
		total: int,
		pending: int,
		sending: int,
		/** Recipients whose mails are not in the ledger yet. */
		to_come: int,
		/** Whether some of these were frozen. */
		has_pages: bool,
	},
	text: `select k.status, p.disabled_reason is not null or p.deleted_at is not null as disabled,
		k.paused_at is not null as paused, k.paused_reason, k.materialised_at is not null as materialised,
		k.lane_bounds is not null as divided,
		k.closed_at is not null as closed, ${isProvedSender('k.project_id', 'k."from"')} as proved,
		coalesce(cardinality(k.lane_bounds), 0) + 1 as lanes, ${workersAlive} as workers,
		k.total_recipients as total, n.pending, n.sending, n.to_come,
		exists (select from audience_pages a where a.project_id = k.project_id and a.campaign_id = k.id)
			as has_pages,
		k.updated_at < now() - interval '${inHandAtMost}' as is_old,
		greatest(0, coalesce(ceil(extract(epoch from k.scheduled_for - now()) * 1000), 0))::float8 as due_in_ms
	from campaigns k join projects p on p.id = k.project_id cross join lateral states_of_campaign(k.project_id, k.id) n
	where k.project_id = $projectId and k.id = $campaignId`,
})

/** Cancels the mails of contacts deleted meanwhile, since no lane reaches them. */
export const dropDeleted = statement('drop-mails-of-deleted-contacts', {
	params: { projectId: uuid, campaignId: uuid },
	text: `update emails set status = 'CANCELLED', error = '${contactDeleted}', updated_at = now()
	where project_id = $projectId and campaign_id = $campaignId and contact_id is null
		and status = 'PENDING'`,
})

const doubtLeft = (name: string, among: string) =>
	statement(name, {
		params: { projectId: uuid, campaignId: uuid },
		text: `with doubted as (
			update emails e set status = 'UNCERTAIN', updated_at = now(), ${keepStart},
				error = 'The worker went away between the hand-over and its record'
			where project_id = $projectId and campaign_id = $campaignId and ${among}
				and status = 'SENDING'
				and ${startedAt} < now() - interval '${inHandAtMost}'
			returning *
		)
		insert into attempts (project_id, email_id, attempt, at, outcome, provider, error)
		select project_id, id, attempt, attempt_started_at, 'UNKNOWN', provider, error from doubted
		on conflict do nothing`,
	})

/** The same for those that a lost worker was handing over: they come into doubt. */
export const doubtDeleted = doubtLeft('doubt-mails-of-deleted-contacts', 'contact_id is null')

/** The same for a cancelled campaign that no worker processes any more. This reads all its mails. */
export const doubtCancelled = doubtLeft('doubt-mails-of-cancelled-campaign', 'true')

const lockSending = statement('lock-sending-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	text: `select from campaigns where project_id = $projectId and id = $campaignId
		and status = 'SENDING' for no key update`,
})

const finishIfSettled = statement('finish-sending-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	text: `update campaigns k set status = 'SENT', sent_at = now(), closed_at = now(), paused_at = null,
		paused_reason = null, updated_at = now()
	from (select n.pending + n.sending as open from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) n
		where k.project_id = $projectId and k.id = $campaignId) n
	where k.project_id = $projectId and k.id = $campaignId and k.status = 'SENDING'
		and k.materialised_at is not null
		and n.open = 0
		and not exists (select from audience_pages where project_id = $projectId and campaign_id = $campaignId)`,
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
