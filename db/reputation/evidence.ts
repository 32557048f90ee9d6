import { isUnsettled } from '../emails/email.ts'
import { inIso, sentEventData } from '../emails/ledger.ts'
import { statement } from '../statement.ts'

export const evidenceKinds = [
	'SENT',
	'DELAYED',
	'DELIVERED',
	'OPENED',
	'CLICKED',
	'BOUNCED',
	'COMPLAINED',
	'FAILED',
	'SUPPRESSED',
] as const
export const bounceTypes = ['Permanent', 'Transient', 'Undetermined'] as const

/** What somebody else knows about one of our mails: a provider's event, a bounce that came by mail. */
export interface Evidence {
	kind: (typeof evidenceKinds)[number]
	at: string
	/** Of a bounce. Only a permanent one has consequences. */
	bounceType: (typeof bounceTypes)[number] | null
	error: string | null
	/** Of a click. */
	link: string | null
	providerMessageId: string | null
}

const evidenceRow = `kind text, at timestamptz, "bounceType" text, error text, link text,
	"providerMessageId" text`

/**
 * How far a mail has come. Of one that was settled without leaving, or so it seemed, only what can
 * happen to nothing but a mail that left says otherwise.
 */
const place = (
	status: string,
) => `case when ${isUnsettled(status)} then 0 else coalesce(array_position(
	array['SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED'], ${status}), 1) end`

/**
 * The end of a WITH: brings the ledger to where `evidence (project_id, id, kind, at, bounceType, error,
 * link, providerMessageId)`, one row a mail, shows that it is, with all that follows. A status never
 * moves back, and what is known already happens no second time: evidence may come in any order, and
 * again. Opens and clicks of mails that carry our own pixel and links are the same ones seen twice.
 */
const settleCtes = `
	proven as (
		select *, kind = 'BOUNCED' and "bounceType" = 'Permanent' as is_permanent,
			case when kind in ('DELIVERED', 'OPENED', 'CLICKED') then 'DELIVERED'
				when kind = 'COMPLAINED' or kind = 'BOUNCED' and "bounceType" = 'Permanent' then kind
				else 'SENT' end as goal
		from evidence
	), settled as (
		update emails e set
			status = case
				when v.kind in ('FAILED', 'SUPPRESSED') then
					case when ${isUnsettled('e.status')} or e.status = 'SENT' then v.kind else e.status end
				when ${place('v.goal')} > ${place('e.status')} then v.goal else e.status end,
			sent_at = case when v.kind in ('FAILED', 'SUPPRESSED')
					or v.goal = 'SENT' and e.status in ('FAILED', 'SUPPRESSED', 'CANCELLED') then e.sent_at
				else coalesce(e.sent_at, e.attempt_started_at, v.at) end,
			delivered_at = case v.kind when 'DELIVERED' then coalesce(e.delivered_at, v.at)
				else e.delivered_at end,
			bounced_at = case when v.is_permanent then coalesce(e.bounced_at, v.at) else e.bounced_at end,
			complained_at = case v.kind when 'COMPLAINED' then coalesce(e.complained_at, v.at)
				else e.complained_at end,
			error = case
				when v.kind in ('BOUNCED', 'FAILED', 'SUPPRESSED') then coalesce(v.error, e.error)
				when v.kind = 'DELAYED' and (${isUnsettled('e.status')} or e.status = 'SENT') then v.error
				when ${isUnsettled('e.status')} or v.goal in ('DELIVERED', 'COMPLAINED')
					and e.status not in ('BOUNCED', 'COMPLAINED') then null
				else e.error end,
			provider_message_id = coalesce(e.provider_message_id, v."providerMessageId"),
			updated_at = now()
		from proven v
		where e.project_id = v.project_id and e.id = v.id and e.attempt > 0
			-- Resend says so of every mail, mostly after our own record: no row is written for that.
			and (v.kind <> 'SENT' or ${isUnsettled('e.status')})
		returning new.*, v.kind, v.is_permanent, v.at, v.link, v."bounceType",
			${isUnsettled('old.status')} as was_open,
			old.sent_at is null and new.sent_at is not null as is_sent,
			old.delivered_at is null and new.delivered_at is not null as is_delivered,
			old.bounced_at is null and new.bounced_at is not null as is_bounced,
			old.complained_at is null and new.complained_at is not null as is_complained
	), noted as (
		insert into attempts as a (project_id, email_id, attempt, at, outcome, provider,
			provider_message_id, error)
		select project_id, id, attempt, coalesce(attempt_started_at, at),
			case when status in ('FAILED', 'SUPPRESSED') then 'REJECTED' else 'SENT' end, provider,
			provider_message_id, case when status in ('FAILED', 'SUPPRESSED') then error end
		from settled where was_open
		on conflict (project_id, email_id, attempt) do update set outcome = excluded.outcome,
			provider_message_id = excluded.provider_message_id, error = excluded.error
			where a.outcome = 'UNKNOWN'
	), engaged as (
		insert into engagements (project_id, email_id, kind, link, fetcher, at)
		select project_id, id, case kind when 'OPENED' then 'OPEN' else 'CLICK' end, link, 'PERSON', at
		from settled where kind in ('OPENED', 'CLICKED') and tracked is not true
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, happened, contact_id, id, ${sentEventData} || more
		from settled cross join lateral (values
			(1, is_sent, 'email.sent', '{}'::jsonb),
			(2, is_delivered, 'email.delivery', jsonb_build_object('deliveredAt', ${inIso('delivered_at')})),
			(3, is_bounced or kind = 'BOUNCED' and not is_permanent, 'email.bounce', jsonb_build_object(
				'bounceType', "bounceType", 'bouncedAt', ${inIso('at')})),
			(4, is_complained, 'email.complaint', jsonb_build_object('complainedAt', ${inIso('complained_at')}))
		) as fact(position, is_new, happened, more)
		where is_new order by position
	)`

/**
 * One event of a provider, found by our ids or else by the provider's. If nobody has them yet the
 * evidence waits for `matchWaiting`. $1 the event's id, $2 project or null, $3 mail or null,
 * $4 the provider's id of the mail, $5 Evidence
 */
export const settleByEvent = statement<{ isNew: boolean; isKnown: boolean }>(
	'settle-by-event',
	`with mail as materialized (
		select project_id, id from emails where project_id = $2::uuid and id = $3::uuid
		union all
		select project_id, email_id from attempts
		where provider = 'resend' and provider_message_id = $4::text
		limit 1
	), told as (
		insert into provider_events (id, evidence)
		select $1, case when not exists (select from mail) then $5::jsonb end
		on conflict (id) do nothing returning 1
	), evidence as (
		select mail.project_id, mail.id, v.* from mail, told, jsonb_to_record($5::jsonb) as v(${evidenceRow})
	), ${settleCtes}
	select exists (select from told) as "isNew", exists (select from mail) as "isKnown"`,
)

/**
 * Bounces that came by mail. The same report told again is answered the same and changes nothing.
 * $1 the report's id, $2 project, $3 [Evidence & {id}], one a mail
 */
export const settleByReport = statement<{ id: string }>(
	'settle-by-report',
	`with given as materialized (
		select e.project_id, v.* from jsonb_to_recordset($3::jsonb) as v(id uuid, ${evidenceRow})
		cross join lateral (
			select project_id from emails
			where project_id = $2 and id = v.id and attempt > 0 offset 0) e
	), told as (
		insert into provider_events (id) select $1 where exists (select from given)
		on conflict (id) do nothing returning 1
	), evidence as (
		select given.* from given, told
	), ${settleCtes}
	select id from given`,
)

/**
 * Evidence that came before the record of its mail's hand-over: a page of what has a mail by now, the
 * first of each mail. A day later nothing comes of it any more. $1 how many at most
 */
export const matchWaiting = statement<{ matched: number }>(
	'match-waiting-evidence',
	`with found as materialized (
		select distinct on (a.project_id, a.email_id) a.project_id, a.email_id as id, w.id as event_id,
			w.evidence
		from provider_events w
		join attempts a on a.provider = 'resend'
			and a.provider_message_id = w.evidence->>'providerMessageId'
		where w.evidence is not null and w.received_at > now() - interval '1 day'
		order by a.project_id, a.email_id, w.received_at limit $1::int
	), taken as (
		update provider_events w set evidence = null from found
		where w.id = found.event_id and w.evidence is not null
		returning w.id
	), evidence as (
		select found.project_id, found.id, v.* from found
		join taken on taken.id = found.event_id
		cross join lateral jsonb_to_record(found.evidence) as v(${evidenceRow})
	), ${settleCtes}
	select count(*)::int as matched from taken`,
)

/** A provider asks again for a day or so; this is a week. $1 how many at most */
export const forgetEvents = statement<{ forgotten: number }>(
	'forget-provider-events',
	`with gone as (
		delete from provider_events where id in (
			select id from provider_events where received_at < now() - interval '7 days'
			order by received_at limit $1::int for update skip locked)
		returning 1
	)
	select count(*)::int as forgotten from gone`,
)
