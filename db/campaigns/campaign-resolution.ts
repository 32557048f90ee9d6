import type { Pool } from 'pg'
import { isProvedSender } from '../domains/proved-sender.ts'
import { sentEventData } from '../emails/ledger.ts'
import { int, text, uuid } from '../sql-types.ts'
import { priorities } from '../outbox/outbox.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { notifyRun } from './campaign-actions.ts'
import type { Campaign } from './campaign.ts'

// Applies a person's decision to all uncertain mails of a campaign, as `emails/resolution.ts` does for one
// mail. Works in chunks, each a transaction with all its consequences.

export type Resolution = 'sent' | 'retry'

const mailsAtOnce = 2000
/** The number of mails in one queued send, and so at most in one run. */
const queuedAtOnce = 500
const first = '00000000-0000-0000-0000-000000000000'

/** Prevents the campaign from ending while the lock is held. */
const shareCampaign = statement('share-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: { status: text.of<Campaign['status']>() },
	text: `select status from campaigns where project_id = $projectId and id = $campaignId::uuid
		and deleted_at is null for share`,
})

const chosen = `chosen as materialized (
		select id from emails
		where rare_status = 'UNCERTAIN' and project_id = $projectId
			and campaign_id = $campaignId::uuid and id > $after::uuid
		order by id limit ${mailsAtOnce}
	)`
const areChosen = `e.project_id = $projectId and e.id = any(array(select id from chosen))
	and e.status = 'UNCERTAIN'`
const done = `select (select count(*)::int from resolved) as resolved,
		(select id from chosen order by id desc limit 1) as last`

const chunkColumns = {
	resolved: int,
	/** null: there were none. */
	last: uuid.orNull,
}

const takeAsSent = statement('take-campaign-mails-as-sent', {
	params: { projectId: uuid, campaignId: uuid, after: uuid },
	row: chunkColumns,
	text: `with ${chosen}, resolved as (
		update emails e set status = 'SENT', sent_at = attempt_started_at, error = null, updated_at = now()
		where ${areChosen}
		returning e.*
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.sent', contact_id, id, ${sentEventData} from resolved
	)
	${done}`,
})

const senderOf = `coalesce(e."from",
	(select k."from" from campaigns k where k.project_id = $projectId and k.id = $campaignId::uuid))`

const retried = (condition: string) => `with ${chosen}, resolved as (
		update emails e set status = 'PENDING', possible_repeat = true, due_at = now(),
			first_attempt_at = null, updated_at = now()
		where ${areChosen} and ${condition}
		returning e.project_id, e.id
	)`

/** Its lanes pick these mails up once its run is notified. Its run checks the sender's domain. */
const retryInLanes = statement('retry-campaign-mails-in-lanes', {
	params: { projectId: uuid, campaignId: uuid, after: uuid, taskQueue: text },
	row: chunkColumns,
	text: `${retried('true')}, moved as (
		select project_id, id, name, total_recipients from campaigns
		where project_id = $projectId and id = $campaignId::uuid and exists (select from resolved)
	), notified as (${notifyRun('moved', '$taskQueue::text')}
	)
	${done}`,
})

/** For a campaign that has ended: the mails become sends of their own, unless the sender's domain is lost. */
const retryAsSends = statement('retry-campaign-mails-as-sends', {
	params: { projectId: uuid, campaignId: uuid, after: uuid },
	row: chunkColumns,
	text: `${retried(isProvedSender('$projectId', senderOf))}, queued as (
		insert into queued_sends (project_id, request_id, priority, email_ids)
		select $projectId, uuidv7(), ${priorities.bulk}, array_agg(id order by id) from (
			select id, (row_number() over (order by id) - 1) / ${queuedAtOnce} as part from resolved) parts
		group by part
	)
	${done}`,
})

/**
 * Settles a campaign's uncertain mails until none are left or the time is up. Resolves to their number, or
 * to null if there is no such campaign.
 */
export async function resolveCampaign(
	pool: Pool,
	[projectId, campaignId, taskQueue]: [projectId: string, campaignId: string, taskQueue: string],
	as: Resolution,
	mostMs: number,
): Promise<number | null> {
	const endsAt = performance.now() + mostMs
	let resolved = 0
	for (let last: string | null = first; last !== null && performance.now() < endsAt;) {
		const after: string = last
		const chunk = await transaction(pool, async (db) => {
			const [campaign] = await shareCampaign(db, { projectId, campaignId })
			if (!campaign) return null
			const values = { projectId, campaignId, after }
			if (as === 'sent') return (await takeAsSent(db, values))[0]!
			if (campaign.status !== 'SENDING') return (await retryAsSends(db, values))[0]!
			return (await retryInLanes(db, { ...values, taskQueue }))[0]!
		})
		if (!chunk) return null
		resolved += chunk.resolved
		last = chunk.last
	}
	return resolved
}
