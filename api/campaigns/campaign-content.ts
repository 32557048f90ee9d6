import { Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { perform } from '../../mail/rendering.ts'
import { countAudience } from '../../db/campaigns/campaign-audience.ts'
import type { CampaignContent } from '../../db/campaigns/campaign-records.ts'
import { audienceTypes } from '../../db/campaigns/campaign.ts'
import type { Condition } from '../../db/conditions/condition.ts'
import { findSegment, lockReferences } from '../../db/segments/segment-records.ts'
import type { TemplateRecord } from '../../db/templates/template-records.ts'
import { mailTypes } from '../../db/templates/template.ts'
import { conditionProblems, ConditionTree } from '../conditions/conditions.ts'
import { ApiError, type FieldError, invalid } from '../errors.ts'
import {
	about,
	Body,
	ContentLanguage,
	Email,
	Id,
	Line,
	Name,
	normalizeEmail,
	Nullable,
} from '../schemas.ts'
import { Sender, type WithSender } from '../send/sender.ts'
import { checkReferences, refuseReferences } from '../segments/segment-conditions.ts'
import { existing as existingSegment } from '../segments/segments.ts'
import { foundTemplate } from '../templates/templates.ts'

const members = {
	description: Type.Optional(
		about(
			'A note of your own. Recipients never see it.',
			Nullable(Type.String({ maxLength: 500 })),
		),
	),
	/** Provides subject, body, sender and type where the request has none. */
	template: Type.Optional(
		about(
			'A template that supplies the subject, body, sender and type that you leave out.',
			Nullable(Id),
		),
	),
	subject: Type.Optional(about('A Liquid template.', Line({ minLength: 1, maxLength: 998 }))),
	body: Type.Optional(Type.String({ minLength: 1, description: 'HTML, a Liquid template' })),
	from: Type.Optional(about('The sender. Its domain must be verified.', Sender)),
	fromName: Type.Optional(about('The name of the sender.', Nullable(Line({ maxLength: 100 })))),
	replyTo: Type.Optional(about('The address for replies.', Nullable(Email))),
	type: Type.Optional(
		about(
			'MARKETING and HEADLESS are sent only to subscribed contacts, and MARKETING has a footer with an unsubscribe link. TRANSACTIONAL is sent to all contacts. The default is MARKETING.',
			Type.Enum([...mailTypes]),
		),
	),
	language: ContentLanguage,
	segmentId: Type.Optional(
		about('The segment. Required when audienceType is SEGMENT.', Nullable(Id)),
	),
	audienceCondition: Type.Optional(
		about('The condition. Required when audienceType is FILTERED.', Nullable(ConditionTree)),
	),
}
const AudienceType = about(
	'ALL: every contact that may get it. SEGMENT: the members of a segment. FILTERED: contacts that match a condition.',
	Type.Enum([...audienceTypes]),
)

const example = {
	name: 'Spring',
	subject: 'Hello {{ name }}',
	body: '<p>News for {{ name }}</p>',
	from: 'news@example.com',
	audienceType: 'ALL',
}
export const NewCampaign = Type.Object(
	{ name: Name, audienceType: AudienceType, ...members },
	{ examples: [example] },
)
export const ChangedCampaign = Body(
	{ subject: 'Hello again, {{ name }}' },
	{
		name: Type.Optional(Name),
		audienceType: Type.Optional(AudienceType),
		...members,
	},
)
export type ChangedCampaign = WithSender<Type.Static<typeof ChangedCampaign>>

const nothing: CampaignContent = {
	name: '',
	description: null,
	subject: '',
	body: '',
	from: '',
	fromName: null,
	replyTo: null,
	type: 'MARKETING',
	language: null,
	templateId: null,
	audienceType: 'ALL',
	audienceCondition: null,
	segmentId: null,
}

/** The template that a body names. It provides the members that the body lacks. */
export const namedTemplate = async (em: EntityManager, projectId: string, body: ChangedCampaign) =>
	body.template ? await foundTemplate(em, projectId, body.template) : null

/** The content and audience of the campaign: given members replace the old ones. */
export function contentOf(
	body: ChangedCampaign,
	template: TemplateRecord | null,
	before = nothing,
): CampaignContent {
	const { template: _, from, replyTo, audienceCondition, ...rest } = body
	const given = {
		...rest,
		templateId: body.template === undefined ? before.templateId : body.template,
		...(from === undefined ? {} : { from: normalizeEmail(from) }),
		...(replyTo === undefined ? {} : { replyTo: replyTo && normalizeEmail(replyTo) }),
		...(audienceCondition === undefined
			? {}
			: { audienceCondition: audienceCondition as Condition | null }),
	}
	const known = Object.keys(nothing) as (keyof CampaignContent)[]
	const lent = template && {
		subject: template.subject,
		body: template.body,
		from: template.from,
		fromName: template.fromName,
		replyTo: template.replyTo,
		type: template.type,
		language: template.language,
	}
	const all: CampaignContent = { ...before, ...lent, ...unneeded(body), ...given }
	// Open bodies may have other members; only those of a campaign are used.
	return Object.fromEntries(known.map((key) => [key, all[key]])) as unknown as CampaignContent
}

/** A time that was ignored would look accepted. A record that was read and is written back may have its own. */
export function refuseTime(body: object, scheduledFor: Date | null = null) {
	const { scheduledFor: given } = body as { scheduledFor?: unknown }
	if (given === undefined || given === null || given === scheduledFor?.toISOString()) return
	throw invalid({
		field: 'scheduledFor',
		message: 'is not known here: give it to POST /campaigns/{id}/send',
		code: 'unrecognized_keys',
	})
}

/** A new audience clears these members, unless the request contains them. */
const unneeded = ({ audienceType }: ChangedCampaign) => ({
	...(audienceType === 'ALL' || audienceType === 'FILTERED' ? { segmentId: null } : {}),
	...(audienceType === 'ALL' || audienceType === 'SEGMENT' ? { audienceCondition: null } : {}),
})

/** Rules that a schema can't express. */
export async function checkContent(projectId: string, content: CampaignContent) {
	const { subject, body, audienceCondition } = content
	const problems = [
		...missingIn(content),
		...(audienceCondition !== null
			? conditionProblems(audienceCondition, 'audienceCondition')
			: []),
		...(await perform(projectId, 'problems', [
			{ value: subject, kind: 'subject', field: 'subject' },
			{ value: body, kind: 'body', field: 'body' },
		])),
	]
	if (problems.length > 0) throw invalid(...problems)
}

/** Takes a body that failed the schema, or the content of a future campaign. */
export function missingIn(given: {
	[member in keyof CampaignContent | 'template']?: unknown
}): FieldError[] {
	const { audienceType, template } = given
	const texts = template ? [] : (['subject', 'body', 'from'] as const)
	return [
		...texts
			.filter((field) => !given[field])
			.map((field) => required(field, 'is required unless a template supplies it')),
		...(audienceType === 'SEGMENT' && !given.segmentId
			? [required('segmentId', 'is required when audienceType is SEGMENT')]
			: []),
		...(audienceType === 'FILTERED' && (given.audienceCondition ?? null) === null
			? [required('audienceCondition', 'is required when audienceType is FILTERED')]
			: []),
	]
}

const required = (field: string, message: string): FieldError => ({
	field,
	message,
	code: 'required',
})

const segmentGone = () =>
	new ApiError(404, 'RESOURCE_NOT_FOUND', 'The segment of this campaign was deleted', {
		details: { resource: 'segment', id: null },
		suggestion: 'Give the campaign another audience with PUT /campaigns/{id}.',
	})

/**
 * The number of current recipients. The segments of the audience are checked, and stay until the
 * transaction ends. Counting may take seconds, so they are locked after it.
 */
export async function recipientsOf(db: PoolClient, projectId: string, content: CampaignContent) {
	const { audienceType, segmentId, audienceCondition } = content
	if (audienceType === 'SEGMENT' && segmentId === null) throw segmentGone()
	const path = 'audienceCondition'
	if (audienceCondition) await refuseReferences(db, projectId, audienceCondition, undefined, path)
	const recipients = await countAudience(db, projectId, content)
	if (segmentId !== null) {
		await lockReferences(db, { projectId })
		existingSegment(await findSegment(db, { projectId, segmentId }), segmentId)
	}
	if (audienceCondition) await checkReferences(db, projectId, audienceCondition, undefined, path)
	return recipients
}
