import { statement } from './statement.ts'

/** Mails of a template that went out. $1 project, $2 template */
export const emailsSentFrom = statement<{ count: number }>(
	'emails-sent-from-template',
	`select count(*)::int as count from emails
	where project_id = $1 and template_id = $2 and sent_at is not null`,
)
