import { stepsInForce } from '../automations/automation-usage.ts'
import { int, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** Campaigns whose content was copied from a template, newest first. */
export const campaignsFrom = statement('campaigns-from-template', {
	params: { projectId: uuid, templateId: uuid },
	row: { id: uuid, name: text, status: text },
	text: `select id, name, status from campaigns
	where project_id = $projectId and template_id = $templateId::uuid and deleted_at is null
	order by created_at desc, id desc`,
})

/** Steps that send it, by the names of their workflows. */
export const stepsSending = statement('steps-sending-template', {
	params: { projectId: uuid, templateId: uuid },
	row: { id: uuid, name: text, workflowId: uuid, workflowName: text },
	text: `select * from (
		select distinct on (s.id) s.id, s.name, a.id as "workflowId", a.name as "workflowName"
		from ${stepsInForce} s
		join automations a on a.project_id = $projectId and a.id = s.automation_id
		where s.template_id = $templateId::uuid order by s.id, s.age
	) steps order by "workflowName", name, id`,
})

/** Mails of a template that went out. Those of campaigns are counted already. */
export const emailsSentFrom = statement('emails-sent-from-template', {
	params: { projectId: uuid, templateId: uuid },
	row: { count: int },
	text: `select (
		(select count(*) from emails
			where project_id = $projectId and template_id = $templateId and sent_at is not null and campaign_id is null)
		+ (select coalesce(sum(c.sent), 0)
			from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) c
			where k.project_id = $projectId and k.template_id = $templateId)
	)::int as count`,
})
