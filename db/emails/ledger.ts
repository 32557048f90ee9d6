import type { Pool, PoolClient } from 'pg'
import { isProvedSender, lostSender } from '../domains/proved-sender.ts'
import { bool, bytes, float, int, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { composed, composedColumns } from './composed-mail.ts'
import { contactDeleted, erasedAddress } from './email.ts'
import { platformProjectId } from './platform-mail.ts'

// The statements that change the ledger. Every one is a compare-and-set on status (and, after a hand-over,
// on the attempt), so that any two workers may process the same mail at the same time.

/** A mail that is not settled, with the columns that decisions need. */
export type OpenMail = RowOf<typeof mailsOfClaim>

/**
 * Looks mails up by their ids, in the months of these ids. The ids are read by a query of their own: the planner
 * would otherwise see their number and plan each call anew.
 */
const isAmong = (id: string) => `${id} = any(array(select unnest($emailIds::uuid[])))
		and ${id} between first_of($emailIds::uuid[]) and last_of($emailIds::uuid[])`

/** Our processes' clocks may differ or change, so they get times relative to the database's clock. */
const inMs = (time: string) => `(extract(epoch from ${time} - now()) * 1000)::float8`

/** How long a mail has been tried. */
export const triedForMs = (firstAttempt: string) => `-${inMs(firstAttempt)} as tried_for_ms`

/** When the latest attempt of a mail `e` was opened. */
export const startedAt = `coalesce(e.attempt_started_at, e.created_at)`

/** A mail that leaves SENDING unsent keeps the times of its attempts, which it may have left to `created_at`. */
export const keepStart = `attempt_started_at = ${startedAt},
			first_attempt_at = coalesce(e.first_attempt_at, ${startedAt})`

/** A provider that recognises our ids remembers them for a day. */
export const keyLifeHours = 23

/** For a server that accepts each mail without ever confirming it: its reader has enough copies by then. */
const mostRepeats = 3

/**
 * Of mails in doubt, a claim repeats only transactional ones, and only `mostRepeats` times; after that, and
 * for all others, a person decides. Tries under a key that the provider still knew don't count.
 */
export const isOpen = `(e.status in ('PENDING', 'SENDING')
		or e.status = 'UNCERTAIN' and e.source_type = 'TRANSACTIONAL'
			and tries_in_doubt(e.project_id, e.id, e.first_attempt_at + interval '${keyLifeHours} hours') <= ${mostRepeats})`

/**
 * A mail's address: for a campaign's mail, the contact's current one, unless a provider may know a try in
 * doubt by its key.
 */
const addressNow = `case when e.campaign_id is not null and not is_in_doubt_since(e.project_id, e.id, e.first_attempt_at)
	then coalesce((select c.email from contacts c where c.project_id = e.project_id and c.id = e.contact_id),
		e."to")
	else e."to" end`

const needsConsent = (type: string) =>
	`coalesce(e.needs_consent, needs_consent(${type}, e.source_type))`

/** Nobody can tell whether they are still subscribed. A campaign sends to nobody who was deleted. */
const ofDeleted = `case when (e.campaign_id is not null or e.needs_consent) and e.contact_id is null
	then '${contactDeleted}' end`

/** A domain may be lost, and even be another project's, after the mail was accepted. Ours is nobody's. */
const ofLostSender = (from: string) => `case when e.project_id <> '${platformProjectId}'
	and not ${isProvedSender('e.project_id', from)} then '${lostSender}' end`

/**
 * The unsettled mails of a claim, in order of requests and recipients. Each is looked up by its id: tables
 * that grow by a hundred thousand rows within seconds have no statistics yet. A planner that assumes they
 * are empty would read all projects' mails for each claim.
 */
export const mailsOfClaim = statement('mails-of-claim', {
	params: { claimId: uuid, provider: text },
	row: {
		project_id: uuid,
		id: uuid,
		request_id: uuid.orNull,
		source_type: text,
		status: text.of<'PENDING' | 'SENDING' | 'UNCERTAIN'>(),
		/** Relative to this read; negative for the past. */
		due_in_ms: float.orNull,
		attempt: int,
		granted_attempt: int,
		error: text.orNull,
		attempt_started_in_ms: float.orNull,
		domain: text,
		/** Its size in memory. */
		bytes: int,
		has_attachments: bool,
		barred_because: text.orNull,
		barred: text.of<'SUPPRESSED' | 'CANCELLED'>().orNull,
		send_rate_per_second: float.orNull,
	},
	text: `with claimed as materialized (
		select q.id as place, q.project_id, m.id, m.position
		from queued_sends q cross join lateral unnest(q.email_ids) with ordinality as m(id, position)
		where q.claim_id = $claimId
	)
	select
		e.project_id, e.id, e.request_id, source_of_mail(e.source_type) as source_type, e.status, e.attempt,
		coalesce(e.granted_attempt, 0) as granted_attempt, e.error,
		${inMs('e.due_at')} as due_in_ms, ${inMs('e.attempt_started_at')} as attempt_started_in_ms,
		split_part(coalesce(e."from", k."from"), '@', 2) as domain,
		(coalesce(octet_length(e.body), 0) + coalesce(octet_length(e."text"), 0) + coalesce((
			select sum((a->>'size')::int) from jsonb_array_elements(e.attachments) a), 0))::int as bytes,
		e.attachments is not null as has_attachments,
		barred.because as barred_because,
		case when barred.because is not null then barred_status(p.disabled_reason, s.reason) end as barred,
		p.send_rate_per_second
	from claimed q
	cross join lateral (
		select * from emails e where e.project_id = q.project_id and e.id = q.id and ${isOpen} offset 0) e
	cross join lateral (select * from projects p where p.id = q.project_id offset 0) p
	left join lateral left_to_campaign(q.project_id, e.campaign_id, e."from") k on true
	left join lateral (
		select reason from suppressions s where s.project_id = q.project_id and s.email = ${addressNow} offset 0) s on true
	left join lateral (
		select subscribed from contacts c where c.project_id = q.project_id and c.id = e.contact_id offset 0) c on true
	cross join lateral (
		select coalesce(may_send(p.disabled_reason, s.reason, ${needsConsent('coalesce(e.type, k.type)')},
			c.subscribed, e."to", p.owner_verified, $provider::text), ${ofDeleted},
			${ofLostSender('coalesce(e."from", k."from")')}) as because) barred
	order by q.place, q.position`,
})

/** Settles mails that may not be sent, with the reason. */
export const settleBarred = statement('settle-barred-mails', {
	params: { projectId: uuid, mails: json<object>() },
	text: `update emails e set status = b.status, error = b.error, updated_at = now()
	from jsonb_to_recordset($mails::jsonb) as b(id uuid, status text, error text)
	where e.project_id = $projectId and e.id = b.id and e.status = 'PENDING'`,
})

/**
 * Reserves send rate by virtual scheduling on the project's only row, and stores the grant on the mails.
 * If a worker dies before the hand-over, the next one uses this grant.
 */
export const grant = statement('grant', {
	params: { projectId: uuid, emailIds: uuid.array, perSecond: float },
	row: { id: uuid, due_in_ms: float },
	text: `with budget as (
		insert into send_budgets as b (project_id, next_at)
		values ($projectId, now() + make_interval(secs => cardinality($emailIds::uuid[]) / $perSecond::float8))
		on conflict (project_id) do update set next_at =
			greatest(b.next_at, now())
				+ make_interval(secs => cardinality($emailIds::uuid[]) / $perSecond::float8)
		returning next_at - make_interval(secs => cardinality($emailIds::uuid[]) / $perSecond::float8) as starts_at
	)
	update emails e set granted_attempt = e.attempt + 1,
		due_at = starts_at + make_interval(secs => (m.position - 1) / $perSecond::float8)
	from budget, unnest($emailIds::uuid[]) with ordinality as m(id, position)
	where e.project_id = $projectId and ${isAmong('e.id')} and e.id = m.id
		and e.status = 'PENDING'
	returning e.id, ${inMs('e.due_at')} as due_in_ms`,
})

/** What the events of a mail say about it, from a row of emails, for any alias. */
export const sentEventData = `event_data_of_mail(
	project_id, id, subject, "from", from_name, template_id, campaign_id, source_type, sent_at)`

/** The data of `email.bounce`. A permanent bounce has consequences: see `suppress_and_judge`. */
export const bounceEventData = (type: string, bouncedAt: string) =>
	`${sentEventData} || jsonb_build_object('bounceType', '${type}', 'bouncedAt', iso_text(${bouncedAt}))`

const ofCampaign = (column: string) =>
	`coalesce(e.${column}, (select k.${column} from campaigns k where k.project_id = $projectId and k.id = e.campaign_id))`
const typeOf = ofCampaign('type')
const fromOf = ofCampaign('"from"')

export type OpenedMail = RowOf<typeof open>

/**
 * Opens attempts, immediately before the hand-over. Whether a mail is tracked is decided at its first
 * attempt, so that every try is the same message. Large bodies are not returned: see `bodyOf`.
 *
 * The ids are read by a query of their own, because the planner would otherwise see their number and
 * plan each call anew.
 */
export const open = statement('open', {
	params: { projectId: uuid, emailIds: uuid.array, withoutBody: uuid.array, provider: text },
	row: {
		...composedColumns,
		attempt: int,
		request_id: uuid.orNull,
		body: text,
		/** Whether it contains our pixel and links. */
		tracked: bool.notNull('it has just been set'),
		tried_for_ms: float,
	},
	text: `with opened as (
	update emails e set status = 'SENDING', "to" = ${addressNow}, attempt = attempt + 1,
		attempt_started_at = now(), first_attempt_at = coalesce(first_attempt_at, now()),
		provider = $provider::text, updated_at = now(),
		copies = case when e.copies is not null and e.attempt = 0 then copies_to_send($projectId, e.copies) else e.copies end,
		-- Nobody can tell which of its readers opened a mail with copies.
		tracked = coalesce(tracked, e.copies is null and ((select tracking = 'ENABLED' from projects where id = $projectId)
			or ${typeOf} = 'MARKETING' and (select tracking = 'MARKETING_ONLY' from projects
				where id = $projectId)))
	where project_id = $projectId and ${isAmong('e.id')} and status = 'PENDING' and (
		select coalesce(may_send(p.disabled_reason, s.reason, ${needsConsent(typeOf)}, c.subscribed, e."to",
			p.owner_verified, $provider::text), ${ofDeleted}, ${ofLostSender(fromOf)})
		from projects p
		left join suppressions s on s.project_id = $projectId and s.email = ${addressNow}
		left join contacts c on c.project_id = $projectId and c.id = e.contact_id
		where p.id = $projectId) is null
	returning *
	)
	select ${composed}, m.attempt, m.request_id, m.tracked, ${triedForMs('m.first_attempt_at')},
		case when m.id = any($withoutBody::uuid[]) then '' else coalesce(m.body, '') end as body,
		case when not m.id = any($withoutBody::uuid[]) then m."text" end as "text"
	from opened m left join lateral left_to_campaign(m.project_id, m.campaign_id, m."from") k on true`,
})

/** For a thread that composes a large mail. Null if it has been erased. */
export const bodyOf = statement('body-of-mail', {
	params: { projectId: uuid, emailId: uuid },
	row: { body: text.orNull, text: text.orNull },
	text: `select body, "text" from emails where project_id = $projectId and id = $emailId`,
})

/** How one attempt ended, and the mail's next status. */
export interface AttemptEnd {
	id: string
	attempt: number
	outcome: 'SENT' | 'REJECTED' | 'DEFERRED' | 'UNAVAILABLE' | 'UNKNOWN'
	/** BOUNCED: the address was refused at the hand-over. */
	status: 'SENT' | 'BOUNCED' | 'FAILED' | 'PENDING' | 'UNCERTAIN'
	providerMessageId: string | null
	error: string | null
	/** The wait before the next try; null: unchanged. */
	dueInMs: number | null
}

/** The error may contain the address, which may have been erased during the hand-over. */
const errorOf = `case when e."to" <> '${erasedAddress}' then o.error end`

/** Of an attempt that the provider accepted. The subject is given if it differs from the ledger's. */
export type SentOutcome = [
	attempt: number,
	providerMessageId: string | null,
	subject: string | null,
	fault: string | null,
	/** The answers to refused copies, by address. */
	refusedCopies?: Record<string, string>,
]

/**
 * Records mails of one project that the provider accepted, and counts them. This also settles a mail that
 * came into doubt meanwhile, unless a newer attempt was opened. Most mails are then their own event
 * `email.sent`, which is only announced to the automations that listen to it: see db/events/sent-mails.sql.
 *
 * A successful first attempt of a campaign's mail needs no row in `attempts`, because the mail's row has
 * all of it. With Resend it has one, because Resend's events name a mail by Resend's id, which is looked up
 * there.
 */
export const recordSent = statement('record-sent', {
	params: {
		projectId: uuid,
		emailIds: uuid.array,
		/** Looked up by id: for a join with a list of unknown length, the planner would compare all pairs. */
		outcomes: json<Record<string, SentOutcome>>(),
	},
	text: `with counting as materialized (
		select count_itself() as begun
	), recorded as (
		update emails e set status = 'SENT', sent_at = now(), is_sent_event = is_punctual(e.id, now()::timestamptz(3)),
			updated_at = null, error = null,
			(provider_message_id, subject, render_fault, copies) = (
				select coalesce(o->>1, e.provider_message_id),
					case when e."to" = '${erasedAddress}' then e.subject else coalesce(o->>2, e.subject) end,
					case when e.campaign_id is null or e."to" = '${erasedAddress}' then e.render_fault else o->>3 end,
					case when o->4 is null then e.copies else copies_after_refusals(e.copies, o->4) end
				from (select $outcomes::jsonb -> e.id::text as o))
		where e.project_id = $projectId and ${isAmong('e.id')}
			and e.attempt = ($outcomes::jsonb -> e.id::text ->> 0)::int
			and e.status in ('SENDING', 'UNCERTAIN', 'PENDING') and (select begun from counting)
		returning e.id, e.campaign_id, e.source_type, e.attachments, e.attempt, ${startedAt} as started_at, e.provider,
			e.provider_message_id, e.sent_at, e.is_sent_event, e.opened_at, e.clicked_at, old.status as before
	), attempted as (
		insert into attempts as a (project_id, email_id, attempt, at, outcome, provider, provider_message_id)
		select $projectId, id, attempt, started_at, 'SENT', provider, provider_message_id from recorded
		where campaign_id is null or attempt > 1 or before <> 'SENDING' or provider = 'resend'
		union all
		-- A newer attempt was opened meanwhile, or the mail is settled otherwise.
		select e.project_id, e.id, (o->>0)::int, ${startedAt}, 'SENT', e.provider, o->>1
		from emails e cross join lateral (select $outcomes::jsonb -> e.id::text as o) outcome
		where (select count(*) from recorded) < cardinality($emailIds)
			and e.project_id = $projectId and ${isAmong('e.id')}
			and (e.attempt_started_at is not null or e.attempt > 0)
			and not exists (select from recorded r where r.id = e.id)
		on conflict (project_id, email_id, attempt) do update
			set outcome = 'SENT', provider_message_id = excluded.provider_message_id, error = null
			where a.outcome = 'UNKNOWN'
	), emitted as (
		select emit_sent_mails($projectId, array_agg(id), not bool_and(is_sent_event)) from recorded having count(*) > 0
	), folded as (
		select fold_counts_of_sending($projectId) where random() < 1.0 / 256
	), alike as materialized (
		select campaign_id, source_type, sent_at, count(*) as mails,
			count(*) filter (where before = 'PENDING') as pending, count(*) filter (where before = 'SENDING') as sending,
			count(*) filter (where before = 'UNCERTAIN') as uncertain,
			count(opened_at) as opened, count(clicked_at) as clicked, sum(usage_weight(attachments)) as weight
		from recorded group by 1, 2, 3
	), states_counted as (
		insert into campaign_tallies (project_id, campaign_id, pending, sending, uncertain, sent)
		select $projectId, campaign_id, -pending, -sending, -uncertain, mails
		from alike where campaign_id is not null
	), mails_counted as (
		insert into mail_tallies (project_id, slot, sent, sent_opened, sent_clicked)
		select $projectId, quarter_of(sent_at), mails, opened, clicked from alike
	), usage_counted as (
		insert into usage_tallies (project_id, month, category, used, sent)
		select $projectId, month_of(sent_at), usage_category(source_type),
			case when campaign_id is null then 0 else weight end, weight
		from alike where is_charged($projectId, 'SENT')
	), reputation_counted as (
		insert into reputation_tallies (project_id, hour, total, bounces, complaints)
		select $projectId, date_trunc('hour', sent_at, 'UTC'), mails, 0, 0
		from alike where $projectId <> platform_project()
	)
	insert into event_tallies (project_id, name, day, count)
	select $projectId, 'email.sent', (sent_at at time zone 'UTC')::date, mails
	from alike, (select count(*) from emitted) e, (select count(*) from folded) f`,
})

/**
 * Records how attempts ended that were not accepted, with their events. A late outcome still settles a mail that another worker
 * has put in doubt, unless a newer attempt was opened. A final outcome settles it for good. If the mail
 * was certainly not accepted, it may be sent again while its claim, or its campaign, is still active;
 * otherwise it waits for a decision. Mails are looked up by id, whatever the planner assumes about a new
 * project.
 */
export const recordUnsent = statement('record-unsent', {
	params: { projectId: uuid, ends: json<AttemptEnd[]>() },
	text: `with outcome as (
		select * from jsonb_to_recordset($ends::jsonb) as o(id uuid, attempt int, outcome text,
			status text, error text, "dueInMs" float8)
	), going_on as (
		select id from campaigns where project_id = $projectId and status = 'SENDING'
			and id = any(array(
				select campaign_id from emails where project_id = $projectId
					and id = any(array(select id from outcome))))
		order by id for share
	), recorded as (
		update emails e set status = o.status, error = ${errorOf}, updated_at = now(), ${keepStart},
			due_at = coalesce(now() + make_interval(secs => o."dueInMs" / 1000), e.due_at,
				case when e.campaign_id is not null and o.status = 'PENDING' then now() end),
			bounced_at = case when o.status = 'BOUNCED' then now() else e.bounced_at end
		from outcome o
		where e.project_id = $projectId and e.id = any(array(select id from outcome))
			and e.id = o.id and e.attempt = o.attempt
			and (e.status = 'SENDING'
				or o.outcome = 'REJECTED' and e.status in ('UNCERTAIN', 'PENDING')
				or o.outcome in ('DEFERRED', 'UNAVAILABLE') and e.status = 'UNCERTAIN'
					and (o.status = 'FAILED' or ${isOpen}
						or e.campaign_id in (select id from going_on)))
		returning e.*, case when o.outcome = 'DEFERRED' and o.status = 'PENDING'
			then announce_delay(e.project_id, e.id, e.error) end
	), attempted as (
		insert into attempts as a (project_id, email_id, attempt, at, outcome, provider, error)
		select e.project_id, e.id, o.attempt, ${startedAt}, o.outcome, e.provider, ${errorOf}
		from outcome o join emails e on e.project_id = $projectId
			and e.id = any(array(select id from outcome))
			and e.id = o.id
		on conflict (project_id, email_id, attempt) do update
			set outcome = excluded.outcome, error = excluded.error where a.outcome = 'UNKNOWN'
	)
	insert into events (project_id, name, contact_id, email_id, data)
	select project_id, 'email.bounce', contact_id, id, ${bounceEventData('Permanent', 'bounced_at')}
	from recorded where status = 'BOUNCED'`,
})

/** An ended attempt. For a campaign's mail: its subject unless it is the campaign's, and any fault. */
export interface Ended {
	end: AttemptEnd
	subject?: string | null
	fault?: string | null
	/** The answers to refused copies, by address. */
	refusedCopies?: Record<string, string>
}

/** Records ended attempts of one project, in at most two statements. Recording twice changes nothing. */
export async function recordEnds(db: Pool | PoolClient, projectId: string, ended: Ended[]) {
	const sent = ended.filter(({ end }) => end.outcome === 'SENT')
	const unsent = ended.filter(({ end }) => end.outcome !== 'SENT').map(({ end }) => end)
	const outcomeOf = ({
		end,
		subject = null,
		fault = null,
		refusedCopies,
	}: Ended): [string, SentOutcome] => {
		const outcome: SentOutcome = [end.attempt, end.providerMessageId, subject, fault]
		if (refusedCopies) outcome.push(refusedCopies)
		return [end.id, outcome]
	}
	if (unsent.length > 0) await recordUnsent(db, { projectId, ends: unsent })
	if (sent.length > 0)
		await recordSent(db, {
			projectId,
			emailIds: sent.map(({ end }) => end.id),
			outcomes: Object.fromEntries(sent.map(outcomeOf)),
		})
}

/**
 * The same, all or nothing: of a batch, no part may stay open. Its repeat would be another batch under the same key,
 * and the provider's refusal would be taken for a yes to mails that it refused at first.
 */
export const recordAllEnds = async (pool: Pool, projectId: string, ended: Ended[]) =>
	new Set(ended.map(({ end }) => end.outcome === 'SENT')).size > 1
		? transaction(pool, (db) => recordEnds(db, projectId, ended))
		: recordEnds(pool, projectId, ended)

/**
 * Ends a claim if each of its mails is settled, or must be settled elsewhere. Each mail is looked up by
 * its id here too.
 */
export const finishClaim = statement('finish-claim', {
	params: { claimId: uuid },
	row: { finished: bool },
	text: `with finished as (
		delete from queued_sends where claim_id = $claimId and not exists (
			select from queued_sends q cross join lateral unnest(q.email_ids) as m(id)
			cross join lateral (
				select from emails e where e.project_id = q.project_id and e.id = m.id and ${isOpen} offset 0) e
			where q.claim_id = $claimId)
		returning 1
	), freed as (
		delete from outbox where workflow_id = 'send/' || $claimId::text
			and exists (select from finished)
	)
	select exists (select from finished) as finished`,
})

/** The claim's first pass is over and the rest waits, so the project may start another run. */
export const freeRun = statement('free-run', {
	params: { claimId: text },
	text: `delete from outbox where workflow_id = 'send/' || $claimId::text`,
})

export type AttachmentRow = RowOf<typeof attachmentsOf>

export const attachmentsOf = statement('attachments-of', {
	params: { projectId: uuid, requestIds: uuid.array },
	row: {
		request_id: uuid,
		filename: text,
		content_type: text,
		content_id: text.orNull,
		inline: bool,
		content: bytes,
	},
	text: `select request_id, filename, content_type, content_id, inline, content from attachments
	where project_id = $projectId and request_id = any($requestIds::uuid[])
		order by request_id, position`,
})
