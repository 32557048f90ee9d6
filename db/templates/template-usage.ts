import { stepsInForce } from '../automations/automation-usage.ts'
import { statement } from '../statement.ts'

/** Campaigns that took their content from a template, newest first. $1 project, $2 template */
export const campaignsFrom = statement<{ id: string; name: string; status: string }>(
	'campaigns-from-template',
	`select id, name, status from campaigns
	where project_id = $1 and template_id = $2::uuid and deleted_at is null
	order by created_at desc, id desc`,
)

/** Steps that send it, by the names of their workflows. $1 project, $2 template */
export const stepsSending = statement<{
	id: string
	name: string
	workflowId: string
	workflowName: string
}>(
	'steps-sending-template',
	`select * from (
		select distinct on (s.id) s.id, s.name, a.id as "workflowId", a.name as "workflowName"
		from ${stepsInForce} s
		join automations a on a.project_id = $1 and a.id = s.automation_id
		where s.template_id = $2::uuid order by s.id, s.age
	) steps order by "workflowName", name, id`,
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
