import { statement } from './statement.ts'

/** Campaigns that took their content from a template, newest first. $1 project, $2 template */
export const campaignsFrom = statement<{ id: string; name: string; status: string }>(
	'campaigns-from-template',
	`select id, name, status from campaigns
	where project_id = $1 and template_id = $2::uuid and deleted_at is null
	order by created_at desc, id desc`,
)

/** Until it commits, nothing new can refer to the template. $1 project, $2 template */
export const lockTemplate = statement<{ id: string }>(
	'lock-template',
	`select id from templates where project_id = $1 and id = $2::uuid for update`,
)

/** $1 project, $2 template */
export const deleteTemplate = statement(
	'delete-template',
	`delete from templates where project_id = $1 and id = $2::uuid`,
)

/** Mails of a template that went out. $1 project, $2 template */
export const emailsSentFrom = statement<{ count: number }>(
	'emails-sent-from-template',
	`select count(*)::int as count from emails
	where project_id = $1 and template_id = $2 and sent_at is not null`,
)
