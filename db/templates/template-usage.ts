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

/** Mails of a template that went out. */
export const emailsSentFrom = statement('emails-sent-from-template', {
	params: { projectId: uuid, templateId: uuid },
	row: { count: int },
	text: `select (
		(select count(*) from emails where project_id = $projectId and template_id = $templateId and sent_at is not null)
		+ (select count(*) from campaigns k
			cross join lateral (
				select from emails e
				where e.project_id = k.project_id and e.campaign_id = k.id and e."from" is null and e.sent_at is not null
				offset 0) e
			where k.project_id = $projectId and k.template_id = $templateId)
	)::int as count`,
})
