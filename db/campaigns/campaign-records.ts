import type { EntityManager } from '@mikro-orm/postgresql'
import type { Condition } from '../conditions/condition.ts'
import { sortedList } from '../sorted-list.ts'
import { int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { now, tables } from '../tables.ts'
import { countNames } from './campaign-count.ts'
import type { Campaign } from './campaign.ts'

/** The parts of a campaign that its owner writes. */
const campaignContentColumns = {
	name: text,
	description: text.orNull,
	subject: text,
	body: text,
	from: text,
	fromName: text.orNull,
	replyTo: text.orNull,
	type: text.of<Campaign['type']>(),
	language: text.orNull,
	templateId: uuid.orNull,
	audienceType: text.of<Campaign['audienceType']>(),
	audienceCondition: json<Condition>().orNull,
	segmentId: uuid.orNull,
}
export type CampaignContent = RowOf<typeof campaignContentColumns>

const campaignRecordColumns = {
	...campaignContentColumns,
	id: uuid,
	status: text.of<Campaign['status']>(),
	scheduledFor: timestamp.orNull,
	totalRecipients: int,
	sentCount: int,
	deliveredCount: int,
	openedCount: int,
	clickedCount: int,
	bouncedCount: int,
	complainedCount: int,
	unsubscribedCount: int,
	failedCount: int,
	pausedAt: timestamp.orNull,
	pausedReason: text.orNull,
	cancelledReason: text.orNull,
	sentAt: timestamp.orNull,
	createdAt: timestamp,
	updatedAt: timestamp,
}
export type CampaignRecord = RowOf<typeof campaignRecordColumns>

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
	from campaigns k cross join lateral counts_of_campaign(k.project_id, k.id) n`

export const findCampaign = statement('find-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: campaignRecordColumns,
	text: `${record} where k.project_id = $projectId and k.id = $campaignId::uuid
		and k.deleted_at is null`,
})

/** The same, and locks it until the transaction ends. */
export const lockCampaign = statement('lock-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	row: campaignRecordColumns,
	text: `${record} where k.project_id = $projectId and k.id = $campaignId::uuid
		and k.deleted_at is null
	for no key update of k`,
})

const sorts = { name: 'k.name', createdAt: 'k.created_at', updatedAt: 'k.updated_at' }
export type Sort = keyof typeof sorts

const wanted = `k.project_id = $projectId and k.deleted_at is null
	and ($status::text is null or k.status = $status)
	and ($pattern::text is null or k.name ilike $pattern or k.subject ilike $pattern
		or k."from" ilike $pattern)`

/** The pattern matches name, subject or sender. */
export const listCampaigns = sortedList('list-campaigns', {
	params: { projectId: uuid, status: text.orNull, pattern: text.orNull },
	rows: `select k.id, octet_length(k.body) + coalesce(octet_length(k.audience_condition::text), 0) as bytes
	from campaigns k where ${wanted}`,
	id: 'k.id',
	columns: sorts,
})

/** The campaigns on a page, in order of the ids. Mails are counted only for these. */
export const campaignsOfPage = statement('campaigns-of-page', {
	params: { projectId: uuid, campaignIds: uuid.array },
	row: campaignRecordColumns,
	text: `${record} where k.project_id = $projectId and k.id = any($campaignIds::uuid[])
		and k.deleted_at is null
	order by array_position($campaignIds::uuid[], k.id)`,
})

export const countCampaigns = statement('count-campaigns', {
	params: { projectId: uuid, status: text.orNull, pattern: text.orNull },
	row: { total: int },
	text: `select count(*)::int as total from campaigns k where ${wanted}`,
})

const columnsOf = ({ language, ...content }: CampaignContent) => ({
	...content,
	contentLanguage: language,
})

export const insertCampaign = (
	em: EntityManager,
	projectId: string,
	content: CampaignContent,
	totalRecipients: number,
) =>
	tables(em)
		.insertInto('campaigns')
		.values({ projectId, ...columnsOf(content), totalRecipients })
		.returning('id')
		.executeTakeFirstOrThrow()

export const updateCampaign = (
	em: EntityManager,
	{ projectId, campaignId }: { projectId: string; campaignId: string },
	content: CampaignContent,
	totalRecipients: number,
) =>
	tables(em)
		.updateTable('campaigns')
		.set({ ...columnsOf(content), totalRecipients, updatedAt: now })
		.where('projectId', '=', projectId)
		.where('id', '=', campaignId)
		.execute()

/**
 * A campaign that never started is deleted completely. Of any other, the mails stay, with the content they
 * are rendered from.
 */
export const deleteCampaign = statement('delete-campaign', {
	params: { projectId: uuid, campaignId: uuid },
	text: `with gone as (
		delete from campaigns where project_id = $projectId and id = $campaignId::uuid
			and started_at is null
	)
	update campaigns set deleted_at = now()
	where project_id = $projectId and id = $campaignId::uuid and started_at is not null`,
})
