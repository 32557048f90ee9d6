import { float, json, text, timestamp, uuid } from '../sql-types.ts'
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

/** A recipient of a throttled message. Without template and key, its subject is compared by the caller. */
export interface AskedThrottle {
	contactId: string
	templateId: string | null
	throttleKey: string | null
	/** When the message is to be sent; null: now. */
	at: string | null
	windowMs: number
}

/**
 * What these contacts have been sent, or will be, later than the window before each message's time: the latest mail, or
 * the latest of each subject. Mails that certainly didn't leave don't count. A mail may have been scheduled up to 30 days
 * after it was made. Contacts are looked up in each month's index.
 */
export const earlierMails = statement('earlier-mails', {
	params: { projectId: uuid, asked: json<AskedThrottle[]>(), longestWindowMs: float },
	row: { contactId: uuid, emailId: uuid, subject: text, time: timestamp },
	text: `select a."contactId", m.id as "emailId", m.subject, m.time
	from (
		select distinct "contactId", "templateId", "throttleKey", "windowMs", at
		from jsonb_to_recordset($asked::jsonb) as a("contactId" uuid, "templateId" uuid, "throttleKey" text,
			"windowMs" float8, at timestamptz)) a
	cross join lateral (
		select distinct on (case when a."templateId" is null and a."throttleKey" is null then e.subject end)
			e.id, coalesce(e.subject, '') as subject, coalesce(e.scheduled_for, e.created_at) as time
		from emails e
		where e.project_id = $projectId and e.contact_id = a."contactId"
			and e.id >= first_id_at(now() - make_interval(secs => $longestWindowMs::float8 / 1000) - interval '30 days')
			and coalesce(e.scheduled_for, e.created_at) > coalesce(a.at, now()) - make_interval(secs => a."windowMs" / 1000)
			and e.source_type in ('TRANSACTIONAL', 'WORKFLOW')
			and e.status not in ('FAILED', 'SUPPRESSED', 'CANCELLED')
			and e.template_id is not distinct from a."templateId"
			and e.throttle_key is not distinct from a."throttleKey"
		order by case when a."templateId" is null and a."throttleKey" is null then e.subject end, e.id desc) m`,
})
