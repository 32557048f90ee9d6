import type { PoolClient } from 'pg'
import { erasedAddress } from '../emails/email.ts'
import { statement } from '../statement.ts'
import { deleteContacts } from './contact-writing.ts'

// Takes a person out of everything that is kept about them, in the transaction that deletes the contact.
// Each statement finds its rows by an index: what it costs depends on what this person did, not on the
// others. test/erasing.test.ts looks for what is left through every column of the database.

/** $1 project, $2 contact */
const lockErased = statement<{ email: string }>(
	'lock-erased-contact',
	`select email from contacts where project_id = $1 and id = $2::uuid for update`,
)

interface ErasedMail {
	id: string
	/** False: it went to somebody else, and was about the person. */
	isTheirs: boolean
	contactId: string | null
	createdAt: Date
}

/** The address of the person whom a mail is to, or from. */
const person = `case m.source_type when 'INBOUND' then m."from" else m."to" end`

/**
 * Takes what it says out of each mail that the person has sent or received, also before they were a
 * contact, and of each that a workflow wrote on their way through it. Those that wait are not sent, and
 * those in doubt not repeated.
 *
 * Mails are locked after their contact, by everybody else before it: to be run by `inChunk`.
 * $1 project, $2 contact, $3 address
 */
const eraseMails = statement<ErasedMail>(
	'erase-mails',
	`with meant as materialized (
		select m.id, m.contact_id, true as is_theirs from emails m
		where m.project_id = $1 and m.contact_id = $2::uuid
		union all
		select m.id, null, true from emails m
		where m.project_id = $1 and m.contact_id is null and ${person} = $3::text
		union all
		select m.id, m.contact_id, false from executions x
		join execution_steps s on s.project_id = x.project_id and s.execution_id = x.id
			and s.type = 'SEND_EMAIL'
		join emails m on m.project_id = s.project_id and m.workflow_step_execution_id = s.id
			and m.contact_id is distinct from x.contact_id
			and (m.contact_id is not null or m."to" <> $3::text)
		where x.project_id = $1 and x.contact_id = $2::uuid
	), erased as (
		update emails e set
			contact_id = case when not is_theirs then e.contact_id end,
			-- One that is being handed over is not handed over again.
			"to" = case when source_type <> 'INBOUND' and (is_theirs or status = 'SENDING')
				then '${erasedAddress}' else "to" end,
			to_name = case when not is_theirs then to_name end,
			"from" = case when source_type = 'INBOUND' then '${erasedAddress}' else "from" end,
			from_name = case when source_type <> 'INBOUND' then from_name end,
			reply_to = null, subject = '', body = null, headers = '{}', render_fault = null,
			attachments = (select jsonb_agg(a || '{"filename": "erased"}')
				from jsonb_array_elements(attachments) a),
			status = case status when 'PENDING' then 'CANCELLED' when 'UNCERTAIN' then 'FAILED'
				else status end,
			error = case status when 'PENDING' then 'The contact was erased'
				when 'UNCERTAIN' then 'In doubt when the contact was erased' end,
			updated_at = now()
		from meant where e.project_id = $1 and e.id = meant.id
		returning e.id, is_theirs, meant.contact_id, e.request_id, e.created_at
	), files as (
		delete from attachments a using erased r
		where a.project_id = $1 and a.request_id = r.request_id and not exists (
			select from emails e where e.body is not null and e.created_at = r.created_at
				and e.project_id = $1 and e.request_id = r.request_id
				and e.id not in (select id from erased))
	), attempted as (
		update attempts a set error = null
		from erased where a.project_id = $1 and a.email_id = erased.id and a.error is not null
	), delivered as (
		delete from mailbox_messages b using erased where b.email_id = erased.id and b.project_id = $1
	)
	select id, is_theirs as "isTheirs", contact_id as "contactId", created_at as "createdAt"
	from erased`,
)

/**
 * What the person's events say, and those of erased mails. $1 project, $2 contact, $3 [ErasedMail]
 */
const eraseEvents = statement(
	'erase-events',
	`with mails as materialized (
		select * from jsonb_to_recordset($3::jsonb) as m(id uuid, "contactId" uuid, "createdAt" timestamptz)
	), meant as materialized (
		select id from events where project_id = $1 and contact_id = $2::uuid
		union
		select e.id from mails m join events e on e.project_id = $1 and e.contact_id is null
			and e.email_id = m.id
		union
		select e.id from mails m join events e on e.project_id = $1 and e.contact_id = m."contactId"
			and e.name = any('{email.sent,email.delivery,email.open,email.click,email.bounce,email.complaint}')
			and e.created_at >= m."createdAt" and e.email_id = m.id
		where m."contactId" <> $2::uuid
	)
	update events e set data = case
		when name = 'email.received' then data - '{subject,from,fromName,messageId}'::text[]
		when name like 'email.%' then data - '{subject,link}'::text[]
		when name like 'segment.%' then data
		else '{}' end
	from meant where e.project_id = $1 and e.id = meant.id and e.data <> '{}'`,
)

/** Why executions failed; the rest that they know goes with their contact. $1 project, $2 contact */
const eraseExecutions = statement(
	'erase-executions',
	`with theirs as (
		update executions set error = case when error is not null then 'The contact was erased' end
		where project_id = $1 and contact_id = $2::uuid
		returning id
	)
	update execution_steps s set error = 'The contact was erased'
	from theirs where s.project_id = $1 and s.execution_id = theirs.id and s.error is not null`,
)

/** What imports and jobs have noted. $1 project, $2 contact, $3 address */
const eraseNotes = statement(
	'erase-notes-of-jobs',
	`with undone as (
		update import_changes i set befores = (
			select array_agg(case when changed = $2::uuid then null else before end order by place)
			from unnest(contact_ids, befores) with ordinality as u(changed, before, place))
		where project_id = $1 and contact_ids @> array[$2::uuid]
	), refused as (
		update job_errors set email = null where project_id = $1 and email = $3::text
	), listed as (
		delete from suppressions where project_id = $1 and email = $3::text
	)
	update audit_entries a set target = target - 'email'
	from projects p where p.id = $1 and a.project_id = p.public_id and a.target ->> 'email' = $3::text`,
)

/**
 * The values of their fields, once nobody else has them. Whoever else is at it comes first; a bound that
 * was a value of theirs becomes the value before it. $1 project
 */
const foldFields = [
	`select pg_advisory_xact_lock(hashtextextended('contact fields of ' || $1::uuid, 0))`,
	`select fold_contact_fields($1)`,
]
const lowerBounds = statement(
	'lower-erased-bounds',
	`update contact_fields f set bound = before.value
	from contact_fields g cross join lateral (
		select v.value from contact_field_values v
		where v.project_id = g.project_id and v.key = g.key and v.type = g.type and v.value < g.bound
		order by v.value desc limit 1) before
	where g.project_id = $1 and f.project_id = $1 and f.key = g.key and f.type = g.type
		and not exists (
			select from contact_field_values v
			where v.project_id = g.project_id and v.key = g.key and v.type = g.type and v.value = g.bound)`,
)

/** Deletes a contact and all that is kept about the person. False: there is none. */
export async function eraseContact(db: PoolClient, projectId: string, id: string) {
	// A table that has just grown has no statistics, and a planner that guesses reads it through.
	await db.query(`set local enable_seqscan = off; set local enable_hashjoin = off;
		set local enable_mergejoin = off`)
	const [contact] = await lockErased(db, [projectId, id])
	if (!contact) return false
	const mails = await eraseMails(db, [projectId, id, contact.email])
	await eraseEvents(db, [projectId, id, JSON.stringify(mails)])
	await eraseExecutions(db, [projectId, id])
	await eraseNotes(db, [projectId, id, contact.email])
	await deleteContacts(db, [projectId, [id]])
	for (const fold of foldFields) await db.query(fold, [projectId])
	await lowerBounds(db, [projectId])
	return true
}
