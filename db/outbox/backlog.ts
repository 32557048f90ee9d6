import { type Pool, type QueryResult, types } from 'pg'
import { aliveSeconds } from '../worker-heartbeat.ts'

/** The waiting work of all projects. */
export interface Backlog {
	/** Mails of requests and automations, in runs that have not ended. */
	queuedMails: number
	/** Mails of campaigns that are being sent. */
	campaignMails: number
	/** How long ago the oldest of the queued mails could have been sent. */
	backlogAgeSeconds: number
	uncertainMails: number
	outboxRows: number
	outboxAgeSeconds: number
	workers: number
}

/** The longest-waiting mail is looked for among this many requests in runs, the oldest ones. */
const requestsLookedAt = 2000
const patienceMs = 2000

/**
 * Each figure comes from an index of open work or from stored counts, so no query grows with the ledger.
 * Mails that may not be sent yet (refused for now, or beyond the send rate) don't count as waiting.
 */
const backlog = `
	select
		(select coalesce(sum(cardinality(email_ids)), 0) from queued_sends)::float8 as "queuedMails",
		(select coalesce(sum(n.pending + n.to_come), 0) from (
			select project_id, id from campaigns
			where status <> 'DRAFT' and closed_at is null and status = 'SENDING' and paused_at is null) k
			cross join lateral states_of_campaign(k.project_id, k.id) n)::float8 as "campaignMails",
		(select coalesce(max(extract(epoch from now() - greatest(e.created_at, e.due_at, e.scheduled_for))), 0)
			from (
				(select * from queued_sends where claim_id is not null order by id limit ${requestsLookedAt})
				union all
				(select * from queued_sends where claim_id is null order by id limit 100)) q
			cross join lateral unnest(q.email_ids) as m(id)
			cross join lateral (
				select created_at, due_at, scheduled_for from emails
				where project_id = q.project_id and id = m.id and status = 'PENDING'
					and (due_at is null or due_at <= now()) offset 0) e)::float8 as "backlogAgeSeconds",
		(select count(*) from emails where rare_status = 'UNCERTAIN')::float8 as "uncertainMails",
		count(*)::float8 as "outboxRows",
		coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "outboxAgeSeconds",
		(select count(*) from worker_beats
			where beat_at > now() - interval '${aliveSeconds} seconds')::float8 as workers
	from outbox where done_at is null`

/** Gives up after two seconds, because reading the backlog must never delay mail. */
export async function readBacklog(pool: Pool): Promise<Backlog> {
	// Both in one message, and so in one transaction: the time limit ends with it.
	const text = `set local statement_timeout = ${patienceMs}; ${backlog}`
	const results = (await pool.query({ text, types })) as unknown as QueryResult<Backlog>[]
	return results[1]!.rows[0]!
}
