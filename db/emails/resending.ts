import { bool, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { composed, composedColumns } from './composed-mail.ts'

/**
 * A mail that is to be sent again, and why that is refused: the rule of its sending, asked in advance. It is kept
 * from changing until the transaction ends. Consent is that of the original: a campaign's mail needs it again.
 */
export const mailToRepeat = statement('mail-to-repeat', {
	params: { projectId: uuid, emailId: uuid, provider: text },
	row: {
		...composedColumns,
		source_type: text.orNull,
		status: text,
		is_unsettled: bool,
		has_body: bool,
		has_attachments: bool,
		/** Its contact's address, or else its own. */
		address: text,
		barred: text.orNull,
	},
	text: `select ${composed}, m."text", m.source_type, m.status, is_unsettled(m.status) as is_unsettled,
		m.body is not null as has_body, m.attachments is not null as has_attachments,
		 coalesce(c.email, m."to") as address,
		may_send(p.disabled_reason, s.reason, coalesce(m.needs_consent, needs_consent(coalesce(m.type, k.type), m.source_type)),
			coalesce(c.subscribed, false), m."to", p.owner_verified, $provider::text) as barred
	from (
		select * from emails where project_id = $projectId and id = $emailId for share
	) m
	join projects p on p.id = m.project_id
	left join lateral left_to_campaign(m.project_id, m.campaign_id, m."from") k on true
	left join contacts c on c.project_id = m.project_id and c.id = m.contact_id
	left join suppressions s on s.project_id = m.project_id and s.email = coalesce(c.email, m."to")`,
})

/**
 * A new mail with the content of another, and its files, queued like every single mail. A given body is used where
 * the original has none of its own, because it is its campaign's.
 */
export const repeatMail = statement('repeat-mail', {
	params: { projectId: uuid, emailId: uuid, mail: json<object>() },
	row: { id: uuid },
	text: `with given as (
		select * from jsonb_to_record($mail::jsonb) as g("to" text, "from" text, "fromName" text, "replyTo" text,
			subject text, body text, "contentLanguage" text, language text, "postalAddress" text, type text)
	), original as (
		select * from emails where project_id = $projectId and id = $emailId
	), mail as (
		insert into emails (project_id, request_id, contact_id, "to", to_name, "from", from_name, reply_to, subject, body,
			"text", tags, headers, content_language, language, postal_address, type, source_type, needs_consent,
			template_id, attachments, tracked)
		select $projectId, uuidv7(), o.contact_id, g."to", o.to_name, g."from", g."fromName", g."replyTo", g.subject,
			coalesce(o.body, g.body), o."text", o.tags, o.headers, g."contentLanguage", g.language, g."postalAddress",
			g.type, 'TRANSACTIONAL',
			nullif(o.contact_id is not null and coalesce(o.needs_consent, needs_consent(g.type, o.source_type)), false),
			o.template_id, o.attachments, case when o.tracked then null else o.tracked end
		from original o, given g
		returning project_id, request_id, id
	), files as (
		insert into attachments (project_id, request_id, position, filename, content_type, content_id, inline, content)
		select $projectId, mail.request_id, position, filename, content_type, content_id, inline, content
		from mail, attachments a
		where a.project_id = $projectId and a.request_id = (select request_id from original)
	), queued as (
		insert into queued_sends (project_id, request_id, email_ids)
		select project_id, request_id, array[id] from mail
	)
	select id from mail`,
})
