import type { Condition } from '../conditions/condition.ts'
import { sortedList } from '../sorted-list.ts'
import { statement } from '../statement.ts'
import { countNames } from './campaign-count.ts'
import { countsOf } from './campaign-counts.ts'
import type { Campaign } from './campaign.ts'

/** What its owner writes of a campaign. */
export interface CampaignContent {
	name: string
	description: string | null
	subject: string
	body: string
	from: string
	fromName: string | null
	replyTo: string | null
	type: Campaign['type']
	language: string | null
	templateId: string | null
	audienceType: Campaign['audienceType']
	audienceCondition: Condition | null
	segmentId: string | null
}

export interface CampaignRecord extends CampaignContent {
	id: string
	status: Campaign['status']
	scheduledFor: Date | null
	totalRecipients: number
	sentCount: number
	deliveredCount: number
	openedCount: number
	clickedCount: number
	bouncedCount: number
	complainedCount: number
	unsubscribedCount: number
	failedCount: number
	pausedAt: Date | null
	pausedReason: string | null
	cancelledReason: string | null
	sentAt: Date | null
	createdAt: Date
	updatedAt: Date
}

const counted = countNames
	.filter((name) => !['pending', 'sending', 'uncertain', 'skipped'].includes(name))
	.map((name) => `n.${name} as "${name}Count"`)
	.join(', ')

const record = `select k.id, k.name, k.description, k.subject, k.body, k."from", k.from_name as "fromName",
		k.reply_to as "replyTo", k.type, k.content_language as "language", k.template_id as "templateId",
		k.audience_type as "audienceType", k.audience_condition as "audienceCondition",
		k.segment_id as "segmentId", k.status, k.scheduled_for as "scheduledFor",
		k.total_recipients as "totalRecipients", ${counted}, k.paused_at as "pausedAt",
		k.paused_reason as "pausedReason", k.cancelled_reason as "cancelledReason", k.sent_at as "sentAt",
		k.created_at as "createdAt", k.updated_at as "updatedAt"
	from campaigns k cross join lateral ${countsOf} n`

/** $1 project, $2 id */
export const findCampaign = statement<CampaignRecord>(
	'find-campaign',
	`${record} where k.project_id = $1 and k.id = $2::uuid and k.deleted_at is null`,
)

/** The same, and it stays as it is until this transaction ends. $1 project, $2 id */
export const lockCampaign = statement<CampaignRecord>(
	'lock-campaign',
	`${record} where k.project_id = $1 and k.id = $2::uuid and k.deleted_at is null
	for no key update of k`,
)

const sorts = { name: 'k.name', createdAt: 'k.created_at', updatedAt: 'k.updated_at' }
export type Sort = keyof typeof sorts

const wanted = `k.project_id = $1 and k.deleted_at is null and ($2::text is null or k.status = $2)
	and ($3::text is null or k.name ilike $3 or k.subject ilike $3 or k."from" ilike $3)`

/** $1 project, $2 status or null, $3 pattern of name, subject or sender, or null, $4 limit, $5 offset */
export const listCampaigns = sortedList(
	'list-campaigns',
	`select k.id, octet_length(k.body) + coalesce(octet_length(k.audience_condition::text), 0) as bytes
	from campaigns k where ${wanted}`,
	'k.id',
	sorts,
)

/** Those on a page: of no others are the mails counted. $1 project, $2 ids, in whose order they come */
export const campaignsOfPage = statement<CampaignRecord>(
	'campaigns-of-page',
	`${record} where k.project_id = $1 and k.id = any($2::uuid[]) and k.deleted_at is null
	order by array_position($2::uuid[], k.id)`,
)

/** $1 project, $2 status or null, $3 pattern or null */
export const countCampaigns = statement<{ total: number }>(
	'count-campaigns',
	`select count(*)::int as total from campaigns k where ${wanted}`,
)

const contents = `name = w.name, description = w.description, subject = w.subject, body = w.body,
	"from" = w."from", from_name = w."fromName", reply_to = w."replyTo", type = w.type, content_language = w.language,
	template_id = w."templateId", audience_type = w."audienceType",
	audience_condition = w."audienceCondition", segment_id = w."segmentId"`
const given = (
	parameter: string,
) => `jsonb_to_record(${parameter}::jsonb) as w(name text, description text,
	subject text, body text, "from" text, "fromName" text, "replyTo" text, type text, language text, "templateId" uuid,
	"audienceType" text, "audienceCondition" jsonb, "segmentId" uuid)`

/** $1 project, $2 CampaignContent, $3 how many recipients */
export const insertCampaign = statement<{ id: string }>(
	'insert-campaign',
	`insert into campaigns (project_id, total_recipients, name, description, subject, body, "from", from_name,
		reply_to, type, content_language, template_id, audience_type, audience_condition, segment_id)
	select $1, $3::int, w.name, w.description, w.subject, w.body, w."from", w."fromName", w."replyTo",
		w.type, w.language, w."templateId", w."audienceType", w."audienceCondition", w."segmentId"
	from ${given('$2')} returning id`,
)

/** $1 project, $2 id, $3 CampaignContent, $4 how many recipients */
export const updateCampaign = statement(
	'update-campaign',
	`update campaigns set ${contents}, total_recipients = $4::int, updated_at = now()
	from ${given('$3')} where project_id = $1 and id = $2::uuid`,
)

/**
 * One that never started leaves nothing behind; the mails of any other stay, and so does what they are
 * rendered from. $1 project, $2 id
 */
export const deleteCampaign = statement(
	'delete-campaign',
	`with gone as (
		delete from campaigns where project_id = $1 and id = $2::uuid and started_at is null
	)
	update campaigns set deleted_at = now()
	where project_id = $1 and id = $2::uuid and started_at is not null`,
)
