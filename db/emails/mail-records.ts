import { bool, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { emailStatuses, MailCopy, sourceTypes } from './email.ts'

/** When a mail left, and what became of it. */
export const mailTimes = {
	sentAt: timestamp.orNull,
	deliveredAt: timestamp.orNull,
	openedAt: timestamp.orNull,
	clickedAt: timestamp.orNull,
	bouncedAt: timestamp.orNull,
	complainedAt: timestamp.orNull,
}

const mailRecordColumns = {
	id: uuid,
	projectId: uuid,
	contactId: uuid.orNull,
	to: text,
	toName: text.orNull,
	copies: json<MailCopy[]>().orNull,
	from: text,
	fromName: text.orNull,
	replyTo: text.orNull,
	subject: text,
	tags: json<{ name: string; value: string }[]>().orNull,
	headers: json<Record<string, string>>().orNull,
	attachments: json<{ filename: string; contentType: string; size: number }[]>().orNull,
	sourceType: text.of<(typeof sourceTypes)[number]>(),
	templateId: uuid.orNull,
	campaignId: uuid.orNull,
	workflowExecutionId: uuid.orNull,
	workflowStepExecutionId: uuid.orNull,
	status: text.of<(typeof emailStatuses)[number]>(),
	scheduledFor: timestamp.orNull,
	possibleRepeat: bool,
	error: text.orNull,
	...mailTimes,
	opens: int,
	clicks: int,
	prefetches: int,
	createdAt: timestamp,
	updatedAt: timestamp,
}

/** A mail as the API shows it, but for its body. */
export type MailRecord = RowOf<typeof mailRecordColumns>

/** Those of the given mails that exist, newest first, with what they take from their campaign. */
export const mailRecords = statement('mail-records', {
	params: { projectId: uuid, ids: uuid.array },
	row: mailRecordColumns,
	text: `select e.id, e.project_id as "projectId", e.contact_id as "contactId", e."to", e.to_name as "toName", e.copies,
		coalesce(e."from", k."from") as "from", coalesce(e.from_name, k.from_name) as "fromName",
		coalesce(e.reply_to, k.reply_to) as "replyTo", coalesce(e.subject, k.subject) as subject,
		e.tags, e.headers, e.attachments, source_of_mail(e.source_type) as "sourceType",
		coalesce(e.template_id, k.template_id) as "templateId", e.campaign_id as "campaignId",
		e.workflow_execution_id as "workflowExecutionId", e.workflow_step_execution_id as "workflowStepExecutionId",
		e.status, e.scheduled_for as "scheduledFor", e.possible_repeat as "possibleRepeat",
		coalesce(e.error, e.render_fault) as error, e.sent_at as "sentAt", e.delivered_at as "deliveredAt",
		e.opened_at as "openedAt", e.clicked_at as "clickedAt", e.bounced_at as "bouncedAt",
		e.complained_at as "complainedAt", coalesce(e.opens, 0) as opens, coalesce(e.clicks, 0) as clicks,
		coalesce(e.prefetches, 0) as prefetches, e.created_at as "createdAt",
		coalesce(e.updated_at, e.sent_at, e.created_at) as "updatedAt"
	from emails e left join lateral left_to_campaign(e.project_id, e.campaign_id, e."from") k on true
	where e.project_id = $projectId and e.id = any($ids)
	order by e.id desc`,
})
