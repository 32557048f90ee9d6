import type { Pool } from 'pg'
import { sentEventData } from '../emails/ledger.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { tell } from './campaign-actions.ts'
import type { Campaign } from './campaign.ts'

// A decision about all uncertain mails of a campaign, as `emails/resolution.ts` has it for one. In chunks,
// each of which commits with all that follows from it.

export type Resolution = 'sent' | 'retry'

const mailsAtOnce = 2000
/** In one queued send, which is one run at most. */
const queuedAtOnce = 500
const first = '00000000-0000-0000-0000-000000000000'

/** While it is shared, the campaign does not end. $1 project, $2 campaign */
const shareCampaign = statement<{ status: Campaign['status'] }>(
	'share-campaign',
	`select status from campaigns where project_id = $1 and id = $2::uuid and deleted_at is null for share`,
)

const chosen = `chosen as materialized (
		select id from emails
		where rare_status = 'UNCERTAIN' and project_id = $1 and campaign_id = $2::uuid and id > $3::uuid
		order by id limit ${mailsAtOnce}
	)`
const areChosen = `e.project_id = $1 and e.id = any(array(select id from chosen)) and e.status = 'UNCERTAIN'`
const done = `select (select count(*)::int from resolved) as resolved,
		(select id from chosen order by id desc limit 1) as last`

interface Chunk {
	resolved: number
	/** null: there were none. */
	last: string | null
}

/** $1 project, $2 campaign, $3 behind this mail */
const takeAsSent = statement<Chunk>(
	'take-campaign-mails-as-sent',
	`with ${chosen}, resolved as (
		update emails e set status = 'SENT', sent_at = attempt_started_at, error = null, updated_at = now()
		where ${areChosen}
		returning e.*
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.sent', contact_id, id, ${sentEventData} from resolved
	)
	${done}`,
)

const retried = `with ${chosen}, resolved as (
		update emails e set status = 'PENDING', possible_repeat = true, due_at = null,
			first_attempt_at = null, updated_at = now()
		where ${areChosen}
		returning e.project_id, e.id
	)`

/** Its lanes come across them, once its run knows. $1 project, $2 campaign, $3 behind this mail, $4 task queue */
const retryInLanes = statement<Chunk>(
	'retry-campaign-mails-in-lanes',
	`${retried}, moved as (
		select project_id, id, name, total_recipients from campaigns
		where project_id = $1 and id = $2::uuid and exists (select from resolved)
	), told as (${tell('moved', '$4::text')}
	)
	${done}`,
)

/** Of a campaign that is over: they go as sends of their own. $1 project, $2 campaign, $3 behind this mail */
const retryAsSends = statement<Chunk>(
	'retry-campaign-mails-as-sends',
	`${retried}, queued as (
		insert into queued_sends (project_id, request_id, email_ids)
		select $1, uuidv7(), array_agg(id order by id) from (
			select id, (row_number() over (order by id) - 1) / ${queuedAtOnce} as part from resolved) parts
		group by part
	)
	${done}`,
)

/**
 * Settles a campaign's uncertain mails, until there are none or the time is over. Resolves to how many,
 * or to null where there is no such campaign.
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
			const [campaign] = await shareCampaign(db, [projectId, campaignId])
			if (!campaign) return null
			const values = [projectId, campaignId, after]
			if (as === 'sent') return (await takeAsSent(db, values))[0]!
			if (campaign.status !== 'SENDING') return (await retryAsSends(db, values))[0]!
			return (await retryInLanes(db, [...values, taskQueue]))[0]!
		})
		if (!chunk) return null
		resolved += chunk.resolved
		last = chunk.last
	}
	return resolved
}
