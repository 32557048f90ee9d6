import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { sentEventData } from './ledger.ts'
import { statement } from './statement.ts'

const batchRows = 500
const restMs = 500

/** A proxy that comes so soon was not sent by a reader. */
const proxyHaste = '2 seconds'

const at = `to_char(n.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const openData = `jsonb_build_object('openedAt', ${at}, 'opens', opens_before + nth,
	'isFirstOpen', opens_before + nth = 1)`
const clickData = `jsonb_build_object('clickedAt', ${at}, 'clicks', clicks_before + nth,
	'isFirstClick', clicks_before + nth = 1, 'link', n.link)`

/**
 * Counts opens and clicks: each exactly once, since the rows go in the transaction that counts them. Any
 * number of processes may fold, and they wait for nobody: what another folder, a delivery or a
 * campaign has in its hands is left for the next time, and so are the mails whose hand-over is not
 * recorded yet, for their status is still to come.
 *
 * A click also shows that the mail was opened, whether its pictures were loaded or not, but it is no
 * open: `opened_at` is set, `opens` and the events count what was fetched. Whoever fetches anything has
 * the mail, so an UNCERTAIN one is settled. Links of a campaign count for its own mails only.
 *
 * $1 rows at most
 */
export const foldEngagements = statement<{ folded: number; emitted: number }>(
	'fold-engagements',
	`with waiting as materialized (
		select g.id, g.project_id, g.email_id from engagements g
		where coalesce((select e.status from emails e
			where e.project_id = g.project_id and e.id = g.email_id), '') not in ('PENDING', 'SENDING')
		order by g.id limit $1::int for update skip locked
	), held as materialized (
		select mail.* from (select distinct project_id, email_id from waiting) w
		cross join lateral (
			select project_id, id, campaign_id,
				coalesce(greatest(sent_at, delivered_at), attempt_started_at) as arrived_at
			from emails e
			where e.project_id = w.project_id and e.id = w.email_id
				and e.status not in ('PENDING', 'SENDING')
			for no key update skip locked) mail
	), taken as (
		delete from engagements g using waiting w
		where g.id = w.id and (
			exists (select from held h where h.project_id = w.project_id and h.id = w.email_id)
			or not exists (select from emails e where e.project_id = w.project_id and e.id = w.email_id))
		returning g.*
	), judged as materialized (
		select t.id as engagement, t.project_id as mail_project, t.email_id as mail, t.kind, t.link, t.at,
			t.fetcher = 'MACHINE'
				or t.fetcher = 'PROXY' and t.at < h.arrived_at + interval '${proxyHaste}' as by_machine
		from taken t join held h on h.project_id = t.project_id and h.id = t.email_id
		where t.campaign_id is null or t.campaign_id = h.campaign_id
	), sums as (
		select mail_project, mail,
			count(*) filter (where kind = 'OPEN' and not by_machine)::int as opens,
			count(*) filter (where kind = 'CLICK' and not by_machine)::int as clicks,
			count(*) filter (where by_machine)::int as prefetches,
			min(at) filter (where not by_machine) as opened_at,
			min(at) filter (where kind = 'CLICK' and not by_machine) as clicked_at
		from judged group by mail_project, mail
	), counted as (
		update emails e set
			opens = e.opens + s.opens, clicks = e.clicks + s.clicks,
			prefetches = e.prefetches + s.prefetches,
			opened_at = least(e.opened_at, s.opened_at), clicked_at = least(e.clicked_at, s.clicked_at),
			status = case
				when s.clicks > 0 and e.status in ('UNCERTAIN', 'SENT', 'DELIVERED', 'OPENED') then 'CLICKED'
				when s.opens > 0 and e.status in ('UNCERTAIN', 'SENT', 'DELIVERED') then 'OPENED'
				when e.status = 'UNCERTAIN' then 'SENT'
				else e.status end,
			sent_at = case e.status when 'UNCERTAIN' then e.attempt_started_at else e.sent_at end,
			error = case e.status when 'UNCERTAIN' then null else e.error end,
			updated_at = now()
		from sums s where e.project_id = s.mail_project and e.id = s.mail
		returning new.*, old.opens as opens_before, old.clicks as clicks_before,
			old.status as status_before
	), numbered as (
		select *, row_number() over (partition by mail_project, mail, kind order by at, engagement) as nth
		from judged where not by_machine
	), happened as (
		select c.project_id, 'email.sent' as name, c.contact_id, c.id as mail, ${sentEventData} as data,
			c.sent_at as at, 0 as engagement
		from counted c where status_before = 'UNCERTAIN'
		union all
		select c.project_id, case n.kind when 'OPEN' then 'email.open' else 'email.click' end,
			c.contact_id, c.id,
			${sentEventData} || case n.kind when 'OPEN' then ${openData} else ${clickData} end,
			n.at, n.engagement
		from counted c join numbered n on n.mail_project = c.project_id and n.mail = c.id
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, name, contact_id, mail, data from happened order by at, engagement
		returning 1
	)
	select (select count(*) from taken)::int as folded, (select count(*) from emitted)::int as emitted`,
)

interface FoldingServices {
	pool: Pool
	/** Events may have started something. */
	relay: { wake(): void }
	log: { warn(fields: object, message: string): void }
}

/** Folds what comes, until stopped; the database may be away in between. */
export function startFolding({ pool, relay, log }: FoldingServices) {
	const stopped = new AbortController()
	const { signal } = stopped

	async function foldAll() {
		while (!signal.aborted) {
			const [{ folded, emitted } = { folded: 0, emitted: 0 }] = await foldEngagements(pool, [
				batchRows,
			])
			if (emitted > 0) relay.wake()
			if (folded < batchRows) return
		}
	}

	const folding = (async () => {
		while (!signal.aborted) {
			await foldAll().catch((error: unknown) => {
				log.warn({ err: error }, 'opens and clicks could not be counted, and wait')
			})
			await sleep(restMs, undefined, { signal }).catch(() => {})
		}
	})()
	return async () => {
		stopped.abort()
		await folding
	}
}
