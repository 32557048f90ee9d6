import { type Limit, nearestLimit } from '../billing/usage-standing.ts'
import { isProvedSender } from '../domains/proved-sender.ts'
import { priorities } from '../outbox/outbox.ts'
import { bool, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** The data for a SEND_EMAIL step. */
export const stepMailContext = statement('step-mail-context', {
	params: { projectId: uuid, templateId: uuid, email: text.orNull, hasLimits: bool },
	row: {
		template: json<{
			name: string
			subject: string
			body: string
			from: string
			fromName: string | null
			replyTo: string | null
			type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
			language: string | null
		}>().orNull,
		/** Whether the template's domain may send. */
		isVerified: bool,
		/** The contact with the requested address, if there is one. */
		addressee: json<{ id: string; subscribed: boolean }>().orNull,
		/** Of the visit and of its mail: so a visit has one mail. */
		id: uuid,
		/** null: there is no limit, or it was not requested. */
		limit: json<Limit>().orNull,
	},
	text: `with template as (
		select name, subject, body, "from", from_name as "fromName", reply_to as "replyTo", type, language
		from templates where project_id = $projectId and id = $templateId::uuid
	)
	select
		(select row_to_json(template) from template) as template,
		${isProvedSender('$projectId', '(select "from" from template)')} as "isVerified",
		(select json_build_object('id', id, 'subscribed', subscribed)
			from contacts where project_id = $projectId and email = $email::text) as addressee,
		uuidv7() as id,
		case when $hasLimits::bool then ${nearestLimit('$projectId', 'workflows')} end as "limit"`,
})

/**
 * Adds an automation's mail to the ledger, once per visit, and unless it has already failed queues it for
 * a run of `send`. It waits for no other mail, so it is a request of its own.
 */
export const insertStepMail = statement('insert-step-mail', {
	params: { projectId: uuid, executionId: uuid, mail: json<object>() },
	text: `with mail as (
		insert into emails (project_id, id, contact_id, "to", to_name, "from", from_name, reply_to,
			subject, body, content_language, language, postal_address, type, source_type, needs_consent,
			template_id, workflow_execution_id, workflow_step_execution_id, about_contact_id, status, error,
			render_fault)
		select $projectId, id, "contactId", "to", "toName", "from", "fromName", "replyTo",
			subject, body, "contentLanguage", language,
			case when type = 'MARKETING'
				then (select postal_address from projects where id = $projectId) end,
			type, 'WORKFLOW', nullif("contactId" is not null and needs_consent(type, 'WORKFLOW'), false),
			"templateId", $executionId::uuid,
			id, "aboutContactId", case when error is null then 'PENDING' else 'FAILED' end, error,
				"renderFault"
		from jsonb_to_record($mail::jsonb) as m(id uuid, "contactId" uuid, "aboutContactId" uuid, "to" text, "toName" text,
			"from" text, "fromName" text, "replyTo" text, subject text, body text, "contentLanguage" text,
			language text,
			type text, "templateId" uuid, error text, "renderFault" text)
		returning project_id, id, status
	)
	insert into queued_sends (project_id, request_id, priority, email_ids)
	select project_id, id, ${priorities.automation}, array[id] from mail where status = 'PENDING'`,
})
