import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { bool, int } from '../sql-types.ts'
import { indexWalk } from '../index-walk.ts'
import { statement } from '../statement.ts'
import { erasedAddress } from './email.ts'
import { sentEventData } from './ledger.ts'

const batchRows = 500
const restMs = 500

/** Of a project in a batch. Projects that leave some of theirs leave it to the others. */
const leastShare = 10

/** A proxy that fetches this soon was not triggered by a reader. */
const proxyHaste = '2 seconds'

/**
 * A mail to an erased person, or about one. The subject of any other may have rendered as nothing, but a single mail has
 * its body, and one of a campaign has no headers.
 */
const isErased = `("to" = '${erasedAddress}' or subject is not distinct from '' and body is null
	and headers is not distinct from '{}')`

const openData = `jsonb_build_object('openedAt', iso_text(at), 'opens', opens_before + nth,
	'isFirstOpen', opens_before + nth = 1)`
const clickData = `jsonb_build_object('clickedAt', iso_text(at), 'clicks', clicks_before + nth,
	'isFirstClick', clicks_before + nth = 1, 'link', case when not ${isErased} then link end)`

/**
 * Counts opens and clicks, each exactly once, because its row is deleted in the transaction that counts
 * it. Any number of processes may fold, and none waits: rows locked by another folder, a delivery, a
 * campaign or a deletion are left for the next time. So are mails whose hand-over is not recorded yet,
 * because their status will follow. Projects take turns; they are walked by the index.
 *
 * A click also shows that the mail was opened, with or without its images, but it doesn't count as an
 * open: `opened_at` is set, while `opens` and the `email.open` events count only fetched pixels. Any fetch
 * shows that the mail arrived, so it settles an UNCERTAIN mail. Links of a campaign count only for its own
 * mails.
 */
export const foldEngagements = statement('fold-engagements', {
	params: { limit: int },
	/** `hasMore`: more may wait than fit in this batch, or in a project's share of it. */
	row: { folded: int, emitted: int, hasMore: bool },
	text: `with recursive ${indexWalk('project', 'project_id', 'engagements')}, next as (
		select share.*, turn = size as "isLast" from (
			select greatest(${leastShare}, $limit::int / greatest(1, count(id))) as size from project
		) sizes
		cross join project
		cross join lateral (
			select id, row_number() over (order by id) as turn from (
				select g.id from engagements g
				where g.project_id = project.id and coalesce((select e.status from emails e
					where e.project_id = g.project_id and e.id = g.email_id), '') not in ('PENDING', 'SENDING')
				order by g.id limit size) first
			) share
	), chosen as (
		select id from next order by turn, id limit $limit::int
	), waiting as materialized (
		select id, project_id, email_id from engagements where id = any(array(select id from chosen))
		order by id for update skip locked
	), held as materialized (
		select mail.* from (select distinct project_id, email_id from waiting) w
		cross join lateral (
			select project_id, id, contact_id, campaign_id,
				coalesce(greatest(sent_at, delivered_at), attempt_started_at,
					case when attempt > 0 then created_at end) as arrived_at
			from emails e
			where e.project_id = w.project_id and e.id = w.email_id
				and e.status not in ('PENDING', 'SENDING')
			for no key update skip locked) mail
		where mail.contact_id is null or exists (select from contacts c
			where c.project_id = mail.project_id and c.id = mail.contact_id for key share skip locked)
	), taken as (
		delete from engagements g using waiting w
		where g.id = w.id and (
			exists (select from held h where h.project_id = w.project_id and h.id = w.email_id)
			or not exists (select from emails e where e.project_id = w.project_id and e.id = w.email_id))
		returning g.*
	), judged as (
		select t.*, t.fetcher = 'MACHINE'
			or t.fetcher = 'PROXY' and t.at < h.arrived_at + interval '${proxyHaste}' as by_machine
		from taken t join held h on h.project_id = t.project_id and h.id = t.email_id
		where t.campaign_id is null or t.campaign_id = h.campaign_id
	), sums as (
		select project_id as of_project, email_id,
			count(*) filter (where by_machine)::int as by_machines,
			count(*) filter (where kind = 'OPEN' and not by_machine)::int as more_opens,
			count(*) filter (where kind = 'CLICK' and not by_machine)::int as more_clicks,
			min(at) filter (where not by_machine) as first_at,
			min(at) filter (where kind = 'CLICK' and not by_machine) as first_click_at,
			array_agg(kind order by at, id) filter (where not by_machine) as kinds,
			array_agg(link order by at, id) filter (where not by_machine) as links,
			array_agg(at order by at, id) filter (where not by_machine) as times
		from judged group by project_id, email_id
	), counted as (
		update emails e set
			opens = coalesce(e.opens, 0) + more_opens, clicks = coalesce(e.clicks, 0) + more_clicks,
			prefetches = coalesce(e.prefetches, 0) + by_machines,
			opened_at = least(e.opened_at, first_at), clicked_at = least(e.clicked_at, first_click_at),
			status = case
				when more_clicks > 0 and e.status in ('UNCERTAIN', 'SENT', 'DELIVERED', 'OPENED')
					then 'CLICKED'
				when more_opens > 0 and e.status in ('UNCERTAIN', 'SENT', 'DELIVERED') then 'OPENED'
				when e.status = 'UNCERTAIN' then 'SENT'
				else e.status end,
			sent_at = case e.status when 'UNCERTAIN' then e.attempt_started_at else e.sent_at end,
			error = case e.status when 'UNCERTAIN' then null else e.error end,
			updated_at = now()
		from sums where e.project_id = of_project and e.id = email_id
		returning new.*, coalesce(old.opens, 0) as opens_before, coalesce(old.clicks, 0) as clicks_before,
			old.status as status_before, kinds, links, times
	), attempted as (
		insert into attempts as a (project_id, email_id, attempt, at, outcome, provider,
			provider_message_id)
		select project_id, id, attempt, attempt_started_at, 'SENT', provider, provider_message_id
		from counted where status_before = 'UNCERTAIN'
		on conflict (project_id, email_id, attempt) do update set outcome = 'SENT', error = null
			where a.outcome = 'UNKNOWN'
	), numbered as (
		select *, row_number() over (partition by project_id, id, kind order by position) as nth
		from counted cross join lateral unnest(kinds, links, times)
			with ordinality as n(kind, link, at, position)
	), happened as (
		select project_id, 'email.sent' as name, contact_id, id as email_id, ${sentEventData} as data,
			sent_at as at, 0 as position
		from counted where status_before = 'UNCERTAIN'
		union all
		select project_id, case kind when 'OPEN' then 'email.open' else 'email.click' end, contact_id, id,
			${sentEventData} || case kind when 'OPEN' then ${openData} else ${clickData} end,
			at, position
		from numbered
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, name, contact_id, email_id, data from happened order by at, position
		returning 1
	)
	select (select count(*) from taken)::int as folded, (select count(*) from emitted)::int as emitted,
		(select count(*) > $limit or coalesce(bool_or("isLast"), false) from next) as "hasMore"`,
})

/** Most looks find nothing, and this costs far less than the statement that counts. */
const engagementsWait = statement('engagements-wait', {
	params: {},
	row: { waits: bool },
	text: 'select (select project_id from engagements order by project_id limit 1) is not null as waits',
})

interface FoldingServices {
	pool: Pool
	/** Events may have started executions. */
	relay: { wake(): void }
	log: { warn(fields: object, message: string): void }
}

/** Folds opens and clicks until stopped, and survives outages of the database. */
export function startFolding({ pool, relay, log }: FoldingServices) {
	const stopped = new AbortController()
	const { signal } = stopped

	async function foldAll() {
		const [look] = await engagementsWait(pool)
		if (!look!.waits) return
		while (!signal.aborted) {
			const [batch] = await foldEngagements(pool, { limit: batchRows })
			if (batch!.emitted > 0) relay.wake()
			// Those that arrive meanwhile wait for the next round, and share a statement.
			if (batch!.folded === 0 || !batch!.hasMore) return
		}
	}

	const folding = (async () => {
		while (!signal.aborted) {
			await foldAll().catch((error: unknown) => {
				log.warn({ err: error }, 'opens and clicks could not be counted yet')
			})
			await sleep(restMs, undefined, { signal }).catch(() => {})
		}
	})()
	return async () => {
		stopped.abort()
		await folding
	}
}
