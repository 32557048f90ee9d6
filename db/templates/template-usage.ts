import type { Pool } from 'pg'
import { stepsInForce } from '../automations/automation-usage.ts'
import { int, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { readWithin } from '../timed-reading.ts'

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

/** Of some templates, those of marketing. */
export const marketingAmong = statement('marketing-among-templates', {
	params: { projectId: uuid, templateIds: uuid.array },
	row: { id: uuid },
	text: `select id from templates
	where project_id = $projectId and id = any($templateIds::uuid[]) and type = 'MARKETING'`,
})

const countMs = 1000
const mostCounted = 10_000

/** Exact if counting takes less than a second. */
export async function countSentFrom(pool: Pool, key: { projectId: string; templateId: string }) {
	const all = await readWithin(pool, countMs, (db) => emailsSentFrom(db, { ...key, most: null }))
	const [sent] = all ?? (await emailsSentFrom(pool, { ...key, most: mostCounted }))
	return sent!.count
}

/** Mails of a template that went out, among the first `most`. Those of campaigns are counted already. */
export const emailsSentFrom = statement('emails-sent-from-template', {
	params: { projectId: uuid, templateId: uuid, most: int.orNull },
	row: { count: int },
	text: `select (
		(select count(*) from (select sent_at, campaign_id from emails
			where project_id = $projectId and template_id = $templateId limit $most::int) mails
			where sent_at is not null and campaign_id is null)
		+ (select coalesce(sum(c.sent), 0)
			from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) c
			where k.project_id = $projectId and k.template_id = $templateId)
	)::int as count`,
})
