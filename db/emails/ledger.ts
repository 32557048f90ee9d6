import { statement } from '../statement.ts'
import { erasedAddress } from './email.ts'

// The statements by which the ledger moves. Every one is a compare-and-set on status (and, once a mail
// was handed over, on the attempt), so that any two workers may hold the same mail at the same time.

/** A mail that is not settled, as much of it as deciding needs. */
export interface OpenMail {
	project_id: string
	id: string
	request_id: string | null
	source_type: string
	status: 'PENDING' | 'SENDING' | 'UNCERTAIN'
	/** From when this was read; negative for what is over. */
	due_in_ms: number | null
	attempt: number
	granted_attempt: number
	error: string | null
	attempt_started_in_ms: number | null
	domain: string
	/** What it will weigh in memory. */
	bytes: number
	has_attachments: boolean
	barred: 'SUPPRESSED' | 'CANCELLED' | null
	barred_because: string | null
	owner_verified: boolean
	send_rate_per_second: number | null
}

/** The clocks of our processes may differ, and be set: they are told how far off a moment is. */
const inMs = (time: string) => `(extract(epoch from ${time} - now()) * 1000)::float8`

/** `/v1/send` may send HEADLESS mail to anybody, an automation may not. */
const wantsConsent = `(e.type = 'MARKETING' or e.type = 'HEADLESS' and e.source_type <> 'TRANSACTIONAL')`

/** A provider that knows our ids promises to remember them for a day. */
export const keyLifeHours = 23

/** A server that takes each mail and never says so: its reader has got enough of them by then. */
const mostRepeats = 3

/**
 * In doubt, only transactional mail is still the claim's to settle, and not for ever: the rest waits for
 * a decision. Tries under a key that the provider still knew were no repeats.
 */
export const isOpen = `(e.status in ('PENDING', 'SENDING')
		or e.status = 'UNCERTAIN' and e.source_type = 'TRANSACTIONAL' and (
			select count(*) from attempts a
			where a.project_id = e.project_id and a.email_id = e.id and a.outcome = 'UNKNOWN'
				and (a.provider is distinct from 'resend'
					or a.at > e.first_attempt_at + interval '${keyLifeHours} hours')
		) <= ${mostRepeats})`

/**
 * Where a mail goes: a campaign's to the address that its contact has when it leaves, unless a try is in
 * doubt that a provider may know by its key.
 */
const addressNow = `case when e.source_type = 'CAMPAIGN' and not exists (
		select from attempts a where a.project_id = e.project_id and a.email_id = e.id
			and a.outcome = 'UNKNOWN' and a.at >= e.first_attempt_at)
	then coalesce((select c.email from contacts c where c.project_id = e.project_id and c.id = e.contact_id),
		e."to")
	else e."to" end`

/**
 * The mails of a claim that are not settled, in the order of requests and recipients. Each is looked up
 * by its id: tables that grow by a hundred thousand rows within seconds have no statistics yet, and a
 * planner that takes them for empty would read all mails of all projects for each claim. $1 claim
 */
export const mailsOfClaim = statement<OpenMail>(
	'mails-of-claim',
	`with claimed as materialized (
		select q.id as place, q.project_id, m.id, m.position
		from queued_sends q cross join lateral unnest(q.email_ids) with ordinality as m(id, position)
		where q.claim_id = $1
	)
	select
		e.project_id, e.id, e.request_id, e.source_type, e.status, e.attempt, e.granted_attempt, e.error,
		${inMs('e.due_at')} as due_in_ms, ${inMs('e.attempt_started_at')} as attempt_started_in_ms,
		split_part(e."from", '@', 2) as domain,
		(coalesce(octet_length(e.body), 0) + coalesce((
			select sum((a->>'size')::int) from jsonb_array_elements(e.attachments) a), 0))::int as bytes,
		e.attachments is not null as has_attachments,
		case
			when p.disabled_reason is not null then 'CANCELLED'
			when s.reason is not null then 'SUPPRESSED'
			when ${wantsConsent} and not c.subscribed then 'CANCELLED'
			when e."to" = '${erasedAddress}' then 'CANCELLED'
		end as barred,
		case
			when p.disabled_reason is not null then 'The project is disabled: ' || p.disabled_reason
			when s.reason is not null then 'The address is on the suppression list: ' || s.reason
			when ${wantsConsent} and not c.subscribed then 'The contact is not subscribed'
			when e."to" = '${erasedAddress}' then 'The contact was erased'
		end as barred_because,
		p.owner_verified, p.send_rate_per_second
	from claimed q
	cross join lateral (
		select * from emails e where e.project_id = q.project_id and e.id = q.id and ${isOpen} offset 0) e
	cross join lateral (select * from projects p where p.id = q.project_id offset 0) p
	left join lateral (
		select reason from suppressions s where s.project_id = q.project_id and s.email = ${addressNow} offset 0) s on true
	left join lateral (
		select subscribed from contacts c where c.project_id = q.project_id and c.id = e.contact_id offset 0) c on true
	order by q.place, q.position`,
)

/** What must not go is settled with its reason. $1 project, $2 [{id, status, error}] */
export const bar = statement(
	'bar',
	`update emails e set status = b.status, error = b.error, updated_at = now()
	from jsonb_to_recordset($2::jsonb) as b(id uuid, status text, error text)
	where e.project_id = $1 and e.id = b.id and e.status = 'PENDING'`,
)

/**
 * Reserves send rate by virtual scheduling on the project's one row, and keeps the grant on the mails:
 * a worker that dies before handing over leaves it to the next one, which does not pay again.
 * $1 project, $2 ids, $3 mails a second
 */
export const grant = statement<{ id: string; due_in_ms: number }>(
	'grant',
	`with budget as (
		insert into send_budgets as b (project_id, next_at)
		values ($1, now() + make_interval(secs => cardinality($2::uuid[]) / $3::float8))
		on conflict (project_id) do update set next_at =
			greatest(b.next_at, now()) + make_interval(secs => cardinality($2::uuid[]) / $3::float8)
		returning next_at - make_interval(secs => cardinality($2::uuid[]) / $3::float8) as starts_at
	)
	update emails e set granted_attempt = e.attempt + 1,
		due_at = starts_at + make_interval(secs => (m.position - 1) / $3::float8)
	from budget, unnest($2::uuid[]) with ordinality as m(id, position)
	where e.project_id = $1 and e.id = any($2::uuid[]) and e.id = m.id and e.status = 'PENDING'
	returning e.id, ${inMs('e.due_at')} as due_in_ms`,
)

export const inIso = (time: string) =>
	`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The data of `email.sent`, from a row of emails whose alias does not matter. */
export const sentEventData = `jsonb_build_object(
	'subject', subject, 'from', "from", 'fromName', from_name,
	'messageId', '<' || id || '@' || split_part("from", '@', 2) || '>', 'emailId', id,
	'templateId', template_id, 'campaignId', campaign_id, 'sourceType', source_type,
	'sentAt', ${inIso('sent_at')})`

/** That of `email.bounce`. A permanent one has consequences: the trigger `heed_mail_events` draws them. */
export const bounceEventData = (type: string, bouncedAt: string) =>
	`${sentEventData} || jsonb_build_object('bounceType', '${type}', 'bouncedAt', ${inIso(bouncedAt)})`

export interface OpenedMail {
	project_id: string
	id: string
	attempt: number
	contact_id: string | null
	/** Then subject and body are still to be rendered. */
	campaign_id: string | null
	request_id: string | null
	to: string
	to_name: string | null
	from: string
	from_name: string | null
	reply_to: string | null
	subject: string
	body: string
	headers: Record<string, string>
	content_language: string
	language: string
	postal_address: string | null
	type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
	/** Whether it goes with our pixel and links. */
	tracked: boolean
	created_at: Date
	first_attempt_at: Date
}

/**
 * Opens attempts, immediately before the hand-over. Whether a mail is tracked is decided at its first
 * attempt, so that every try is the same message. $1 project, $2 ids, $3 provider
 */
export const open = statement<OpenedMail>(
	'open',
	`update emails e set status = 'SENDING', "to" = ${addressNow}, attempt = attempt + 1, attempt_started_at = now(),
		first_attempt_at = coalesce(first_attempt_at, now()), provider = $3::text, updated_at = now(),
		tracked = coalesce(tracked, (select tracking = 'ENABLED' from projects where id = $1)
			or type = 'MARKETING' and (select tracking = 'MARKETING_ONLY' from projects where id = $1))
	where project_id = $1 and id = any($2::uuid[]) and status = 'PENDING'
	returning project_id, id, attempt, contact_id, campaign_id, request_id, "to", to_name, "from", from_name, reply_to,
		subject, coalesce(body, '') as body, headers, coalesce(content_language, language) as content_language,
		language, postal_address, type, tracked, created_at, first_attempt_at`,
)

/** How one attempt ended, and what becomes of its mail. */
export interface AttemptEnd {
	id: string
	attempt: number
	outcome: 'SENT' | 'REJECTED' | 'DEFERRED' | 'UNAVAILABLE' | 'UNKNOWN'
	/** BOUNCED: refused for its address, at the hand-over. */
	status: 'SENT' | 'BOUNCED' | 'FAILED' | 'PENDING' | 'UNCERTAIN'
	providerMessageId: string | null
	error: string | null
	/** When it may go again; null: as before. */
	dueInMs: number | null
}

/** It may name the address, also one that was erased while the mail was handed over. */
const errorOf = `case when e."to" <> '${erasedAddress}' then o.error end`

/**
 * Records how attempts ended, with the events that follow from it. An outcome that comes late, after
 * another worker had to doubt it, still settles the mail if no newer attempt was opened: for good if it
 * is final; surely not taken, it may go again, as long as somebody looks after it: its claim, or a
 * campaign that is not over, nor will be before this has committed. All else was left to a decision.
 * Mails are looked up by their ids, whatever the planner takes a new project's for.
 * $1 project, $2 [AttemptEnd]
 */
export const record = statement<{ id: string }>(
	'record',
	`with outcome as (
		select * from jsonb_to_recordset($2::jsonb) as o(id uuid, attempt int, outcome text, status text,
			"providerMessageId" text, error text, "dueInMs" float8)
	), going_on as (
		select id from campaigns where project_id = $1 and status = 'SENDING' and id = any(array(
			select campaign_id from emails where project_id = $1 and id = any(array(select id from outcome))))
		order by id for share
	), recorded as (
		update emails e set status = o.status, error = ${errorOf}, updated_at = now(),
			due_at = coalesce(now() + make_interval(secs => o."dueInMs" / 1000), e.due_at),
			provider_message_id = coalesce(o."providerMessageId", e.provider_message_id),
			sent_at = case when o.status = 'SENT' then now() else e.sent_at end,
			bounced_at = case when o.status = 'BOUNCED' then now() else e.bounced_at end
		from outcome o
		where e.project_id = $1 and e.id = any(array(select id from outcome))
			and e.id = o.id and e.attempt = o.attempt
			and (e.status = 'SENDING'
				or o.outcome in ('SENT', 'REJECTED') and e.status in ('UNCERTAIN', 'PENDING')
				or o.outcome in ('DEFERRED', 'UNAVAILABLE') and e.status = 'UNCERTAIN'
					and (o.status = 'FAILED' or ${isOpen}
						or e.source_type = 'CAMPAIGN' and e.campaign_id in (select id from going_on)))
		returning e.*
	), noted as (
		insert into attempts as a (project_id, email_id, attempt, at, outcome, provider,
			provider_message_id, error)
		select e.project_id, e.id, o.attempt, e.attempt_started_at, o.outcome, e.provider,
			o."providerMessageId", ${errorOf}
		from outcome o join emails e on e.project_id = $1 and e.id = any(array(select id from outcome))
			and e.id = o.id
		on conflict (project_id, email_id, attempt) do update
			set outcome = excluded.outcome, provider_message_id = excluded.provider_message_id,
				error = excluded.error
			where a.outcome = 'UNKNOWN'
	), emitted as (
		insert into events (project_id, name, contact_id, email_id, data)
		select project_id, 'email.sent', contact_id, id, ${sentEventData}
		from recorded where status = 'SENT'
		union all
		select project_id, 'email.bounce', contact_id, id, ${bounceEventData('Permanent', 'bounced_at')}
		from recorded where status = 'BOUNCED'
	)
	select id from recorded`,
)

/**
 * Ends a claim if every mail of it is settled, or is for somebody else to settle. Here, too, each is
 * looked up by its id. $1 claim
 */
export const finishClaim = statement<{ finished: boolean }>(
	'finish-claim',
	`with finished as (
		delete from queued_sends where claim_id = $1 and not exists (
			select from queued_sends q cross join lateral unnest(q.email_ids) as m(id)
			cross join lateral (
				select from emails e where e.project_id = q.project_id and e.id = m.id and ${isOpen} offset 0) e
			where q.claim_id = $1)
		returning 1
	), freed as (
		delete from outbox where workflow_id = 'send/' || $1::text and exists (select from finished)
	)
	select exists (select from finished) as finished`,
)

/** The claim's first pass is over, what is left of it waits: the project may start another run. $1 claim */
export const freeRun = statement(
	'free-run',
	`delete from outbox where workflow_id = 'send/' || $1::text`,
)

export interface AttachmentRow {
	request_id: string
	filename: string
	content_type: string
	content_id: string | null
	inline: boolean
	content: Buffer
}

/** $1 project, $2 requests */
export const attachmentsOf = statement<AttachmentRow>(
	'attachments-of',
	`select request_id, filename, content_type, content_id, inline, content from attachments
	where project_id = $1 and request_id = any($2::uuid[]) order by request_id, position`,
)
