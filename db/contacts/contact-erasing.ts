import type { PoolClient } from 'pg'
import { erasedAddress } from '../emails/email.ts'
import { bool, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { mailIdOfStep } from '../executions/step-output.ts'
import { foldFields, holdFields } from './contact-fields.ts'
import { deleteContacts } from './contact-writing.ts'
import { eraseCopyWebhooks, eraseWebhooks } from './webhook-erasing.ts'

// Erases a person from all stored data, in the transaction that deletes the contact. Each statement finds
// its rows by an index, so its cost depends only on this person's activity. test/erasing.test.ts searches
// every column of the database for remains.

const lockErased = statement('lock-erased-contact', {
	params: { projectId: uuid, contactId: uuid },
	row: { email: text },
	text: `select email from contacts where project_id = $projectId and id = $contactId::uuid
		for update`,
})

/** The person's address in a mail: its sender for incoming mail, else its recipient. */
const person = `case m.source_type when 'INBOUND' then m."from" else m."to" end`

/** The mail went to another address. */
const isOthers = (contactId: string) =>
	`m.contact_id is distinct from ${contactId}::uuid and (m.contact_id is not null or m."to" <> $email::text)`

/** Including those before they were a contact, and each mail that a workflow wrote for them. */
const mailsOf = `select m.id, m.contact_id, true as is_theirs from emails m
		where m.project_id = $projectId and m.contact_id = $contactId::uuid
		union all
		select m.id, null, true from emails m
		where m.project_id = $projectId and m.contact_id is null and ${person} = $email::text
		union
		select m.id, m.contact_id, false from emails m
		where m.project_id = $projectId and m.about_contact_id = $contactId::uuid
			and ${isOthers('$contactId')}
		union
		-- Mails of older releases do not name the person.
		select m.id, m.contact_id, false from executions x
		join execution_steps s on s.project_id = x.project_id and s.execution_id = x.id
			and s.type = 'SEND_EMAIL'
		join emails m on m.project_id = s.project_id and m.id = ${mailIdOfStep}
			and ${isOthers('x.contact_id')}
		where x.project_id = $projectId and x.contact_id = $contactId::uuid`

/** Before their mails are changed, in the order in which their release locks both: see db/outbox/due-sends.ts. */
const unscheduleMails = statement('unschedule-erased-mails', {
	params: { projectId: uuid, contactId: uuid, email: text },
	text: `with meant as materialized (
		${mailsOf}
	)
	delete from scheduled_sends s using meant
	where s.project_id = $projectId and s.email_id = meant.id`,
})

/**
 * Erases the content of each mail that the person has sent or received, including those before they were a
 * contact, and of each mail that a workflow wrote for them. Waiting mails are not sent, and mails in doubt
 * are not repeated.
 *
 * Mails are locked after their contact, but all others lock them first, so run this by `inChunk`.
 */
const eraseMails = statement('erase-mails', {
	params: { projectId: uuid, contactId: uuid, email: text },
	row: {
		id: uuid,
		/** False: the mail went to another address, but was about the person. */
		isTheirs: bool,
		/** The person's address in it. */
		address: text,
		contactId: uuid.orNull,
		createdAt: timestamp,
	},
	text: `with meant as materialized (
		${mailsOf}
	), erased as (
		update emails e set
			contact_id = case when not is_theirs then e.contact_id end, about_contact_id = null,
			-- A mail that is being handed over is not handed over again.
			"to" = case when source_type is distinct from 'INBOUND' and (is_theirs or status = 'SENDING')
				then '${erasedAddress}' else "to" end,
			to_name = case when not is_theirs then to_name end,
			"from" = case when source_type = 'INBOUND' then '${erasedAddress}' else "from" end,
			from_name = case when source_type is distinct from 'INBOUND' then from_name end,
			reply_to = null, subject = '', body = null, "text" = null, tags = null,
			throttle_key = null, headers = '{}', render_fault = null,
			attachments = (select jsonb_agg(a || '{"filename": "erased"}')
				from jsonb_array_elements(attachments) a),
			status = case status when 'PENDING' then 'CANCELLED' when 'SCHEDULED' then 'CANCELLED' when 'UNCERTAIN' then 'FAILED'
				else status end,
			error = case status when 'PENDING' then 'The contact was erased'
				when 'SCHEDULED' then 'The contact was erased'
				when 'UNCERTAIN' then 'In doubt when the contact was erased' end,
			updated_at = now()
		from meant where e.project_id = $projectId and e.id = meant.id
		returning e.id, is_theirs, case old.source_type when 'INBOUND' then old."from" else old."to" end as address,
			meant.contact_id, e.request_id, e.created_at, e.workflow_execution_id as execution_id
	), written as (
		-- Executions of others that wrote to the person. Their own are deleted.
		update execution_steps s set output = s.output || '{"recipientEmail": "${erasedAddress}"}'
		from erased r join executions x on x.project_id = $projectId and x.id = r.execution_id
			and x.contact_id is distinct from $contactId::uuid
		where r.is_theirs and s.project_id = $projectId and s.execution_id = r.execution_id and s.id = r.id
	), files as (
		delete from attachments a using erased r
		where a.project_id = $projectId and a.request_id = r.request_id and not exists (
			select from emails e where e.body is not null and e.created_at = r.created_at
				and e.project_id = $projectId and e.request_id = r.request_id
				and e.id not in (select id from erased))
	), attempted as (
		update attempts a set error = null
		from erased where a.project_id = $projectId and a.email_id = erased.id and a.error is not null
	), delivered as (
		delete from mailbox_messages b using erased where b.email_id = erased.id
			and b.project_id = $projectId
	)
	select id, is_theirs as "isTheirs", address, contact_id as "contactId", created_at as "createdAt"
	from erased`,
})

/**
 * Removes the person from the copies of mails to others. These mails are found by the index of copies. The local
 * mailbox forgets them, because their headers name the person. A mail without any copies left has an empty list, so that
 * a late report about one is not taken for one about the recipient.
 */
const eraseCopies = statement('erase-copies', {
	params: { projectId: uuid, email: text },
	row: {
		id: uuid,
		/** Its error named the address. */
		isNamed: bool,
	},
	text: `with meant as materialized (
		select id from emails where project_id = $projectId and copies is not null
			and copies @> jsonb_build_array(jsonb_build_object('email', $email::text))
	), erased as (
		update emails e set copies = (
				select coalesce(jsonb_agg(copy order by place), '[]')
				from jsonb_array_elements(e.copies) with ordinality as c(copy, place)
				where copy->>'email' <> $email::text),
			error = case when position($email::text in lower(e.error)) = 0 then e.error end, updated_at = now()
		from meant where e.project_id = $projectId and e.id = meant.id
		returning e.id, coalesce(position($email in lower(old.error)) > 0, false) as is_named
	), attempted as (
		update attempts a set error = null
		from meant where a.project_id = $projectId and a.email_id = meant.id
			and position($email::text in lower(a.error)) > 0
	), delivered as (
		delete from mailbox_messages b using meant where b.email_id = meant.id and b.project_id = $projectId
	)
	select id, is_named as "isNamed" from erased`,
})

/** The data of the person's events, and of events of erased mails. */
const eraseEvents = statement('erase-events', {
	params: { projectId: uuid, contactId: uuid, mails: json<RowOf<typeof eraseMails>[]>() },
	text: `with mails as materialized (
		select * from jsonb_to_recordset($mails::jsonb) as m(id uuid, "contactId" uuid,
			"createdAt" timestamptz)
	), meant as materialized (
		select id from events where project_id = $projectId and contact_id = $contactId::uuid
		union
		select e.id from mails m join events e on e.project_id = $projectId and e.contact_id is null
			and e.email_id = m.id
		union
		select e.id from mails m join events e on e.project_id = $projectId
			and e.contact_id = m."contactId"
			and e.name = any('{email.sent,email.delivery,email.open,email.click,email.bounce,email.complaint}')
			and e.created_at >= m."createdAt" and e.email_id = m.id
		where m."contactId" <> $contactId::uuid
	)
	update events e set data = case
		when name = 'email.received' then data - '{subject,from,fromName,messageId}'::text[]
		when name like 'email.%' then data - '{subject,link}'::text[]
		when webhook_type_of_event(name) in ('segment.entered', 'segment.left') then data
		else '{}' end
	from meant where e.project_id = $projectId and e.id = meant.id and e.data <> '{}'`,
})

/** The errors of failed executions. The rest of their data is deleted with the contact. */
const eraseExecutions = statement('erase-executions', {
	params: { projectId: uuid, contactId: uuid },
	text: `with theirs as (
		update executions set error = case when error is not null then 'The contact was erased' end
		where project_id = $projectId and contact_id = $contactId::uuid
		returning id
	)
	update execution_steps s set error = 'The contact was erased'
	from theirs where s.project_id = $projectId and s.execution_id = theirs.id and s.error is not null`,
})

/** Of a person's addresses those that belong to no other contact by now. */
const ownAddresses = statement('own-addresses-of-erased', {
	params: { projectId: uuid, contactId: uuid, addresses: text.array },
	row: { address: text },
	text: `select address from unnest($addresses::text[]) as a(address) where not exists (
		select from contacts c where c.project_id = $projectId and c.email = a.address and c.id <> $contactId::uuid)`,
})

/** The errors and undo data that imports and jobs have stored. */
const eraseJobRecords = statement('erase-job-records', {
	params: { projectId: uuid, contactId: uuid, addresses: text.array },
	text: `with undone as (
		update import_changes i set befores = (
			select array_agg(case when changed = $contactId::uuid then null
				else before end order by place)
			from unnest(contact_ids, befores) with ordinality as u(changed, before, place))
		where project_id = $projectId and contact_ids @> array[$contactId::uuid]
	), refused as (
		update job_errors set email = null where project_id = $projectId and email = any($addresses::text[])
	), listed as (
		delete from suppressions where project_id = $projectId and email = any($addresses)
	)
	update audit_entries a set target = target - 'email'
	from projects p where p.id = $projectId and a.project_id = p.public_id
		and a.target ->> 'email' = any($addresses)`,
})

/**
 * If a bound was this person's value and no other contact has it, the next smaller value becomes the
 * bound.
 */
const lowerBounds = statement('lower-erased-bounds', {
	params: { projectId: uuid },
	text: `update contact_fields f set bound = before.value
	from contact_fields g cross join lateral (
		select v.value from contact_field_values v
		where v.project_id = g.project_id and v.key = g.key and v.type = g.type and v.value < g.bound
		order by v.value desc limit 1) before
	where g.project_id = $projectId and f.project_id = $projectId and f.key = g.key and f.type = g.type
		and not exists (
			select from contact_field_values v
			where v.project_id = g.project_id and v.key = g.key and v.type = g.type and v.value = g.bound)`,
})

/**
 * Forgets deleted contacts with the person's address, and after the deletion the person themselves. A campaign that is
 * writing the mail of one holds its row: so this waits, and the mail is then erased with the others.
 */
const forgetRemoved = statement('forget-removed-contacts', {
	params: { projectId: uuid, email: text },
	text: 'delete from removed_contacts where project_id = $projectId and email = $email::text',
})

/** Deletes a contact and everything stored about the person. False: there is no such contact. */
export async function eraseContact(db: PoolClient, projectId: string, id: string) {
	// A table that has just grown has no statistics, and the planner would scan it.
	await db.query(`set local enable_seqscan = off; set local enable_hashjoin = off;
		set local enable_mergejoin = off`)
	const [contact] = await lockErased(db, { projectId, contactId: id })
	if (!contact) return false
	const whose = { projectId, contactId: id, email: contact.email }
	await forgetRemoved(db, whose)
	await unscheduleMails(db, whose)
	const mails = await eraseMails(db, whose)
	const theirs = mails.filter(({ isTheirs }) => isTheirs).map(({ address }) => address)
	const known = [...new Set([contact.email, ...theirs])]
	const own = await ownAddresses(db, { projectId, contactId: id, addresses: known })
	const addresses = own.map(({ address }) => address)
	for (const email of addresses) {
		const copied = await eraseCopies(db, { projectId, email })
		await eraseCopyWebhooks(db, { projectId, email, mails: copied })
	}
	await eraseEvents(db, { projectId, contactId: id, mails })
	await eraseExecutions(db, { projectId, contactId: id })
	await eraseJobRecords(db, { projectId, contactId: id, addresses })
	await deleteContacts(db, { projectId, contactIds: [id] })
	await forgetRemoved(db, whose)
	// The deletion itself is announced, too.
	const mailIds = mails.map((mail) => mail.id)
	await eraseWebhooks(db, { projectId, contactId: id, mailIds })
	await holdFields(db, { projectId })
	await foldFields(db, { projectId })
	await lowerBounds(db, { projectId })
	return true
}
