import { erasedAddress } from '../emails/email.ts'
import { sentEventData, startedAt } from '../emails/ledger.ts'
import { bool, int, json, text, uuid } from '../sql-types.ts'
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

/** Another party's report about one of our mails: a provider's event, or a bounce that came by mail. */
export interface Evidence {
	kind: (typeof evidenceKinds)[number]
	at: string
	/** For a bounce. Only a permanent one has consequences. */
	bounceType: (typeof bounceTypes)[number] | null
	error: string | null
	/** For a click. */
	link: string | null
	providerMessageId: string | null
	/** The address that it is about, if the report names one. */
	recipient?: string | null | undefined
}

const evidenceRow = `kind text, at timestamptz, "bounceType" text, error text, link text,
	"providerMessageId" text, recipient text`

/**
 * The rank of a mail's status. If a mail was settled as not sent, only evidence that requires a sent mail
 * changes that.
 */
const place = (
	status: string,
) => `case when is_unsettled(${status}) then 0 else coalesce(array_position(
	array['SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED'], ${status}), 1) end`

/**
 * The end of a WITH: updates the ledger by `evidence (project_id, id, kind, at, bounceType, error, link,
 * providerMessageId)`, one row per mail, with all consequences. A status never moves back, and known facts
 * have no second effect, so evidence may arrive in any order and repeatedly. For mails with our own pixel
 * and links, the provider's opens and clicks are the same ones seen twice.
 *
 * Evidence about a copy concerns that copy: its bounce is recorded with it and suppresses its address. About the mail
 * it proves only that it was sent, because its readers get it in one hand-over. The place of a copy is that in the
 * locked row, because erasures remove copies. If its reader was erased, the report counts against nobody, and its reason
 * is not kept. A mail without copies has one reader, whatever address the report names: it may have been forwarded.
 */
const settleCtes = `
	reported as (
		select v.project_id, v.id, v.kind, v.at, v."bounceType", v.link, v."providerMessageId", v.recipient, is_of_copy,
			-- A reason may contain the address.
			case when is_of_copy or e."to" <> '${erasedAddress}' then v.error end as error,
			case when kind = 'COMPLAINED' then 'complainedAt'
				when kind = 'BOUNCED' and "bounceType" = 'Permanent' then 'bouncedAt' end as mark
		from evidence v join emails e on e.project_id = v.project_id and e.id = v.id
		cross join lateral (
			select coalesce(e.copies is not null and v.recipient <> e."to", false) as is_of_copy) reader
	), copies_refused as (
		-- Before the hand-over, so this says nothing about the mail.
		update emails e set updated_at = now(),
			copies = copies_after_report(e.copies, v.recipient, jsonb_build_object('error', v.error))
		from reported v
		where e.project_id = v.project_id and e.id = v.id and v.is_of_copy and v.kind in ('FAILED', 'SUPPRESSED')
	), proven as (
		select project_id, id, 'SENT' as kind, 'SENT' as goal, false as is_permanent,
			case when kind in ('BOUNCED', 'COMPLAINED') then kind end as copy_kind, mark,
			at, "bounceType", error, link, "providerMessageId", recipient
		from reported where is_of_copy and kind not in ('FAILED', 'SUPPRESSED')
		union all
		select project_id, id, kind,
			case when kind in ('DELIVERED', 'OPENED', 'CLICKED') then 'DELIVERED'
				when mark is not null then kind else 'SENT' end,
			coalesce(mark = 'bouncedAt', false), null, null,
			at, "bounceType", error, link, "providerMessageId", recipient
		from reported where not is_of_copy
	), settled as (
		update emails e set
			status = case
				when v.kind in ('FAILED', 'SUPPRESSED') then
					case when is_unsettled(e.status) or e.status = 'SENT' then v.kind else e.status end
				when ${place('v.goal')} > ${place('e.status')} then v.goal else e.status end,
			sent_at = case when v.kind in ('FAILED', 'SUPPRESSED')
					or v.goal = 'SENT' and e.status in ('FAILED', 'SUPPRESSED', 'CANCELLED') then e.sent_at
				else coalesce(e.sent_at, ${startedAt}) end,
			delivered_at = case v.kind when 'DELIVERED' then coalesce(e.delivered_at, v.at)
				else e.delivered_at end,
			bounced_at = case when v.is_permanent then coalesce(e.bounced_at, v.at) else e.bounced_at end,
			complained_at = case v.kind when 'COMPLAINED' then coalesce(e.complained_at, v.at)
				else e.complained_at end,
			error = case
				when v.kind in ('BOUNCED', 'FAILED', 'SUPPRESSED') then coalesce(v.error, e.error)
				when v.kind = 'DELAYED' and (is_unsettled(e.status) or e.status = 'SENT') then v.error
				when is_unsettled(e.status) or v.goal in ('DELIVERED', 'COMPLAINED')
					and e.status not in ('BOUNCED', 'COMPLAINED') then null
				else e.error end,
			provider_message_id = coalesce(e.provider_message_id, v."providerMessageId"),
			copies = case when v.copy_kind is null then e.copies else copies_after_report(e.copies, v.recipient,
				case v.copy_kind when 'BOUNCED' then jsonb_build_object('error', v.error) else '{}' end
					|| case when v.mark is null then '{}' else jsonb_build_object(v.mark, iso_text(v.at)) end) end,
			updated_at = now()
		from proven v
		where e.project_id = v.project_id and e.id = v.id and e.attempt > 0
			-- Resend says so of every mail, mostly after our own record: no row is written for that.
			and (v.kind <> 'SENT' or is_unsettled(e.status) or v.copy_kind is not null)
		returning new.*, v.kind, v.is_permanent, v.at, v.link, v."bounceType",
			is_unsettled(old.status) as was_open,
			old.sent_at is null and new.sent_at is not null as is_sent,
			old.delivered_at is null and new.delivered_at is not null as is_delivered,
			old.bounced_at is null and new.bounced_at is not null as is_bounced,
			old.complained_at is null and new.complained_at is not null as is_complained,
			case v.kind when 'DELAYED' then announce_delay(new.project_id, new.id, v.error) end,
			v.copy_kind, case when v.copy_kind is not null then place_of_copy(new.copies, v.recipient) end as place,
			v.mark is null or not coalesce(old.copies->place_of_copy(old.copies, v.recipient) ? v.mark, false) as is_new_of_copy
	), attempted as (
		insert into attempts as a (project_id, email_id, attempt, at, outcome, provider,
			provider_message_id, error)
		select project_id, id, attempt, coalesce(attempt_started_at, created_at),
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
			(2, is_delivered, 'email.delivery', jsonb_build_object('deliveredAt', iso_text(delivered_at))),
			(3, is_bounced or kind = 'BOUNCED' and not is_permanent, 'email.bounce', jsonb_build_object(
				'bounceType', "bounceType", 'bouncedAt', iso_text(at))),
			(4, is_complained, 'email.complaint', jsonb_build_object('complainedAt', iso_text(complained_at)))
		) as fact(position, is_new, happened, more)
		where is_new order by position
	), emitted_of_copies as (
		insert into events (project_id, name, email_id, data)
		select project_id, case copy_kind when 'BOUNCED' then 'email.bounce' else 'email.complaint' end, id,
			jsonb_build_object('emailId', id, 'copy', place) || case copy_kind
				when 'BOUNCED' then jsonb_build_object('bounceType', "bounceType", 'bouncedAt', iso_text(at))
				else jsonb_build_object('complainedAt', iso_text(at)) end
		from settled where place is not null and is_new_of_copy
	)`

/**
 * One event of a provider, matched by our ids or the provider's. If no mail has them yet, the evidence
 * waits for `matchWaiting`.
 */
export const settleByEvent = statement('settle-by-event', {
	params: {
		eventId: text,
		projectId: uuid.orNull,
		emailId: uuid.orNull,
		providerMessageId: text.orNull,
		evidence: json<Evidence>(),
	},
	row: { isNew: bool, isKnown: bool },
	text: `with mail as materialized (
		select project_id, id from emails where project_id = $projectId::uuid and id = $emailId::uuid
		union all
		select project_id, email_id from attempts
		where provider = 'resend' and provider_message_id = $providerMessageId::text
		limit 1
	), first_time as (
		insert into provider_events (id, evidence)
		select $eventId, case when not exists (select from mail) then $evidence::jsonb end
		on conflict (id) do nothing returning 1
	), evidence as (
		select mail.project_id, mail.id, v.*
			from mail, first_time, jsonb_to_record($evidence::jsonb) as v(${evidenceRow})
	), ${settleCtes}
	select exists (select from first_time) as "isNew", exists (select from mail) as "isKnown"`,
})

/**
 * What a bounce that came by mail says about one reader. Outcomes other than the worst count only for a mail with copies,
 * because any other mail has one reader. A repeated report gets the same answer and changes nothing.
 */
export const settleByReport = statement('settle-by-report', {
	params: {
		reportId: text,
		projectId: uuid,
		isOfWorst: bool,
		evidence: json<Partial<Evidence> & { id: string }>(),
	},
	row: { id: uuid },
	text: `with given as materialized (
		select e.project_id, v.* from jsonb_to_record($evidence::jsonb) as v(id uuid, ${evidenceRow})
		cross join lateral (
			select project_id from emails
			where project_id = $projectId and id = v.id and attempt > 0
				and ($isOfWorst::boolean or copies is not null) offset 0) e
	), first_time as (
		insert into provider_events (id) select $reportId where exists (select from given)
		on conflict (id) do nothing returning 1
	), evidence as (
		select given.* from given, first_time
	), ${settleCtes}
	select id from given`,
})

/**
 * Evidence that arrived before the record of its mail's hand-over: a page of evidence whose mail is known
 * now, the first per mail. After a day it has no effect any more.
 */
export const matchWaiting = statement('match-waiting-evidence', {
	params: { limit: int },
	row: { matched: int },
	text: `with found as materialized (
		select distinct on (a.project_id, a.email_id) a.project_id, a.email_id as id, w.id as event_id,
			w.evidence
		from provider_events w
		join attempts a on a.provider = 'resend'
			and a.provider_message_id = w.evidence->>'providerMessageId'
		where w.evidence is not null and w.received_at > now() - interval '1 day'
		order by a.project_id, a.email_id, w.received_at limit $limit::int
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
})

/** A provider repeats events for about a day; this keeps them for a week. */
export const forgetEvents = statement('forget-provider-events', {
	params: { limit: int },
	row: { forgotten: int },
	text: `with gone as (
		delete from provider_events where id in (
			select id from provider_events where received_at < now() - interval '7 days'
			order by received_at limit $limit::int for update skip locked)
		returning 1
	)
	select count(*)::int as forgotten from gone`,
})
