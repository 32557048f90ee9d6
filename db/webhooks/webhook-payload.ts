// What the payload of a delivery `d` consists of, for statements about one project. Its members are described in
// api/webhook-endpoints/webhook-payloads.ts.

/** Null where the payload was stored. */
export const payloadData = `case when d.payload is not null then null
			when d.email_id is not null then coalesce(m.data, jsonb_build_object('emailId', d.email_id))
				|| case d.type when 'email.sent' then jsonb_build_object('sentAt', iso_text(d.occurred_at))
					when 'email.bounced' then jsonb_build_object('error', m.error) else '{}' end
				|| coalesce(d.data, '{}')
			when d.type in ('contact.subscribed', 'contact.unsubscribed')
					or split_part(d.type, '.', 1) in ('segment', 'execution', 'event')
				then jsonb_build_object('contactId', c.id, 'email', c.email) || coalesce(d.data, '{}')
			else coalesce(d.data, '{}') end`

/** The mail and the contact of a delivery. */
export const payloadRows = `left join lateral (
		select jsonb_build_object('emailId', e.id, 'contactId', e.contact_id,
			'email', case e.source_type when 'INBOUND' then e."from" else e."to" end,
			'to', e."to", 'from', coalesce(e."from", k."from"), 'subject', coalesce(e.subject, k.subject),
			'sourceType', source_of_mail(e.source_type), 'templateId', coalesce(e.template_id, k.template_id),
			'campaignId', e.campaign_id, 'executionId', e.workflow_execution_id)
				|| case when e.tags is null then '{}' else jsonb_build_object('tags', e.tags) end as data, e.error
		from emails e left join lateral left_to_campaign(e.project_id, e.campaign_id, e."from") k on true
		where e.project_id = $projectId and e.id = d.email_id and d.payload is null offset 0) m on true
	left join lateral (
		select c.id, c.email from contacts c
		where c.project_id = $projectId and c.id = d.contact_id and d.payload is null offset 0) c on true`
