import { type Limit, nearestLimit } from '../billing/usage-standing.ts'
import { statement } from '../statement.ts'

export interface StepMailContext {
	template: {
		name: string
		subject: string
		body: string
		from: string
		fromName: string | null
		replyTo: string | null
		type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
		language: string | null
	} | null
	/** Whether the template's domain may send. */
	isVerified: boolean
	/** The contact with the address that is asked for, if there is one. */
	addressee: { id: string; subscribed: boolean } | null
	emailId: string
	visitId: string
	/** null: there is no limit, or nobody asked. */
	limit: Limit | null
}

/**
 * What a SEND_EMAIL step needs to know. $1 project, $2 template, $3 address or null, $4 whether limits
 * apply
 */
export const stepMailContext = statement<StepMailContext>(
	'step-mail-context',
	`with template as (
		select name, subject, body, "from", from_name as "fromName", reply_to as "replyTo", type, language
		from templates where project_id = $1 and id = $2::uuid
	)
	select
		(select row_to_json(template) from template) as template,
		exists (
			select from domains where project_id = $1 and verified_at is not null and domain =
				(select lower(btrim(split_part("from", '@', 2))) from template)) as "isVerified",
		(select json_build_object('id', id, 'subscribed', subscribed)
			from contacts where project_id = $1 and email = $3::text) as addressee,
		uuidv7() as "emailId", uuidv7() as "visitId",
		case when $4::bool then ${nearestLimit('$1', 'workflows')} end as "limit"`,
)

/**
 * Puts a mail of an automation into the ledger, once a visit, and unless it has failed already on its
 * way into a run of `send`. It waits for no other mail, so it is a request of its own.
 *
 * $1 project, $2 execution, $3 visit's id, $4 the mail
 */
export const insertStepMail = statement(
	'insert-step-mail',
	`with mail as (
		insert into emails (project_id, id, contact_id, "to", to_name, "from", from_name, reply_to,
			subject, body, content_language, language, postal_address, type, source_type, template_id,
			workflow_execution_id, workflow_step_execution_id, status, error, render_fault)
		select $1, id, "contactId", "to", "toName", "from", "fromName", "replyTo",
			subject, body, "contentLanguage", language,
			case when type = 'MARKETING' then (select postal_address from projects where id = $1) end,
			type, 'WORKFLOW', "templateId", $2::uuid,
			$3::uuid, case when error is null then 'PENDING' else 'FAILED' end, error, "renderFault"
		from jsonb_to_record($4::jsonb) as m(id uuid, "contactId" uuid, "to" text, "toName" text,
			"from" text, "fromName" text, "replyTo" text, subject text, body text, "contentLanguage" text,
			language text,
			type text, "templateId" uuid, error text, "renderFault" text)
		returning project_id, id, status
	)
	insert into queued_sends (project_id, request_id, email_ids)
	select project_id, id, array[id] from mail where status = 'PENDING'`,
)
