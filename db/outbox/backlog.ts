import { type Pool, type QueryResult, types } from 'pg'
import { countsOf } from '../campaigns/campaign-counts.ts'
import { aliveSeconds } from '../worker-beat.ts'

/** What waits, over all projects. */
export interface Backlog {
	/** Mails of requests and automations, in runs that are not over. */
	queuedMails: number
	/** Of campaigns that are being sent. */
	campaignMails: number
	/** How long the longest waiting of the former could have gone already. */
	backlogAgeSeconds: number
	uncertainMails: number
	outboxRows: number
	outboxAgeSeconds: number
	workers: number
}

/** Beyond so many requests nobody looks for the one that waits the longest. */
const requestsLookedAt = 2000
const patienceMs = 2000

/**
 * Each figure by an index of what is open, or from counts that are kept: none of it grows with the
 * ledger. Mails that may not go yet (refused for now, beyond the send rate) do not count as waiting.
 */
const backlog = `
	select
		(select coalesce(sum(cardinality(email_ids)), 0) from queued_sends)::float8 as "queuedMails",
		(select coalesce(sum(n.pending), 0) from (
			select project_id, id from campaigns
			where status <> 'DRAFT' and closed_at is null and status = 'SENDING' and paused_at is null) k
			cross join lateral ${countsOf} n)::float8 as "campaignMails",
		(select coalesce(max(extract(epoch from now() - greatest(e.created_at, e.due_at))), 0)
			from (
				(select * from queued_sends where claim_id is not null order by id limit ${requestsLookedAt})
				union all
				(select * from queued_sends where claim_id is null order by id limit 100)) q
			cross join lateral unnest(q.email_ids) as m(id)
			cross join lateral (
				select created_at, due_at from emails
				where project_id = q.project_id and id = m.id and status = 'PENDING'
					and (due_at is null or due_at <= now()) offset 0) e)::float8 as "backlogAgeSeconds",
		(select count(*) from emails where rare_status = 'UNCERTAIN')::float8 as "uncertainMails",
		count(*)::float8 as "outboxRows",
		coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "outboxAgeSeconds",
		(select count(*) from worker_beats
			where beat_at > now() - interval '${aliveSeconds} seconds')::float8 as workers
	from outbox where done_at is null`

/** Asks for them, and gives up after two seconds: to look must never be what keeps the mail waiting. */
export async function readBacklog(pool: Pool): Promise<Backlog> {
	// Both in one message, and so in one transaction: the limit ends with it.
	const text = `set local statement_timeout = ${patienceMs}; ${backlog}`
	const results = (await pool.query({ text, types })) as unknown as QueryResult<Backlog>[]
	return results[1]!.rows[0]!
}
