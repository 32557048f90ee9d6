import { float, int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// A request with `delivery.throttle` skips recipients who have been sent the same thing within a time. Such requests lock
// their recipients first, so of several at the same moment one sends.

/** Each request holds at most this many locks of a project. */
const lockGroups = 256

/** Until the end of the transaction, and before anything is read. In one order, as all requests do. */
export const lockThrottled = statement('lock-throttled-recipients', {
	params: { projectId: uuid, emails: text.array },
	text: `select pg_advisory_xact_lock(hashtextextended('throttle of ' || $projectId::uuid, number)) from (
		select distinct hashtext(email) & ${lockGroups - 1} as number
		from unnest($emails::text[]) email order by 1) groups`,
})

/** A mail of a throttled message. */
export interface AskedThrottle {
	contactId: string
	templateId: string | null
	throttleKey: string | null
	/** null: the mail has a template or a key, and is compared by that. */
	subject: string | null
	/** When the message is to be sent; null: now. */
	at: string | null
	windowMs: number
}

/**
 * The latest mail that each contact has been sent, or will be, within the window before or after the message's time.
 * `place` is the question's, from 1. Mails that certainly didn't leave don't count. A mail may be scheduled up to 60 days
 * after it was made: see api/send/send-delivery.ts. Contacts are looked up in each month's index.
 */
export const earlierMails = statement('earlier-mails', {
	params: { projectId: uuid, asked: json<AskedThrottle[]>(), longestWindowMs: float },
	row: { place: int, emailId: uuid },
	text: `select a.place::int as place, m.id as "emailId"
	from (
		select place, (q ->> 'contactId')::uuid as contact_id, (q ->> 'templateId')::uuid as template_id,
			q ->> 'throttleKey' as throttle_key, q ->> 'subject' as subject,
			coalesce((q ->> 'at')::timestamptz, now()) as at,
			make_interval(secs => (q ->> 'windowMs')::float8 / 1000) as span
		from jsonb_array_elements($asked::jsonb) with ordinality as questions(q, place)) a
	cross join lateral (
		select e.id from emails e
		where e.project_id = $projectId and e.contact_id = a.contact_id
			and e.id >= first_id_at(now() - make_interval(secs => $longestWindowMs::float8 / 1000) - interval '60 days')
			and coalesce(e.scheduled_for, e.created_at) > a.at - a.span
			and coalesce(e.scheduled_for, e.created_at) < a.at + a.span
			and e.source_type in ('TRANSACTIONAL', 'WORKFLOW')
			and e.status not in ('FAILED', 'SUPPRESSED', 'CANCELLED')
			and e.template_id is not distinct from a.template_id
			and e.throttle_key is not distinct from a.throttle_key
			and (a.subject is null or coalesce(e.subject, '') = a.subject)
		order by e.id desc limit 1) m`,
})
