import { erasedAddress } from '../emails/email.ts'
import { json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// Erases a person from deliveries of webhooks. Those that wait are still delivered, but a payload that is being sent
// at this moment is not stored any more.

const withoutAnswers = `(select coalesce(jsonb_agg(a || '{"answer": null}' order by place), '[]')
			from jsonb_array_elements(d.attempts) with ordinality as tries(a, place))`

/** Webhooks about the person keep the ids alone. */
export const eraseWebhooks = statement('erase-webhooks', {
	params: { projectId: uuid, contactId: uuid, mailIds: uuid.array },
	text: `with meant as materialized (
		select endpoint_id, id from webhook_deliveries
		where project_id = $projectId and contact_id = $contactId::uuid
		union all
		select endpoint_id, id from webhook_deliveries
		where project_id = $projectId and email_id = any($mailIds::uuid[])
	)
	update webhook_deliveries d set payload = null, is_erased = true,
		data = case
			when d.type in ('contact.created', 'contact.updated')
				then d.data || '{"email": "${erasedAddress}", "data": {}}'
			when d.type = 'contact.deleted' then d.data || '{"email": "${erasedAddress}"}'
			when d.type like 'event.%' then d.data || '{"data": {}}'
			when d.type like 'email.%' then d.data || jsonb_strip_nulls(jsonb_build_object(
				'link', case when d.data ? 'link' then '' end, 'error', case when d.data ? 'error' then '' end))
				|| case when d.data ? 'messageId' then '{"messageId": null}'::jsonb else '{}' end
			when d.type = 'execution.failed' then d.data || '{"error": "The contact was erased"}'
			else d.data end,
		attempts = ${withoutAnswers}
	from meant
	where d.project_id = $projectId and d.endpoint_id = meant.endpoint_id and d.id = meant.id`,
})

/**
 * Webhooks about mails to others that had a copy for the person: those about this copy, and those with an error that
 * names its address. Found by the index of a mail's deliveries. A bounce of the mail has its error from the mail, so it
 * may be only in a payload that is being sent.
 */
export const eraseCopyWebhooks = statement('erase-copy-webhooks', {
	params: {
		projectId: uuid,
		email: text,
		mails: json<{ id: string; isNamed: boolean }[]>(),
	},
	text: `with mails as materialized (
		select * from jsonb_to_recordset($mails::jsonb) as m(id uuid, "isNamed" bool)
	)
	update webhook_deliveries d set payload = null, is_erased = true,
		data = d.data || case when d.data ? 'error' then '{"error": ""}'::jsonb else '{}' end
			|| case when d.data->>'email' = $email then '{"email": "${erasedAddress}"}'::jsonb else '{}' end,
		attempts = ${withoutAnswers}
	from mails m
	where d.project_id = $projectId and d.email_id = m.id
		and (d.data ?| '{error,email}' or d.type = 'email.bounced')
		and (m."isNamed" and d.type = 'email.bounced'
			or position($email::text in lower(concat(d.data, d.payload, d.attempts))) > 0)`,
})
