import { Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { perform } from '../../activities/rendering/rendering.ts'
import { countAudience } from '../../db/campaigns/campaign-audience.ts'
import type { CampaignContent } from '../../db/campaigns/campaign-records.ts'
import { audienceTypes } from '../../db/campaigns/campaign.ts'
import type { Condition } from '../../db/conditions/condition.ts'
import { findSegment, lockReferences } from '../../db/segments/segment-records.ts'
import { mailTypes, type Template } from '../../db/templates/template.ts'
import { conditionProblems, ConditionTree } from '../conditions/conditions.ts'
import { type FieldError, invalid, notFound } from '../errors.ts'
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
import { checkReferences } from '../segments/segment-conditions.ts'
import { existing as existingSegment } from '../segments/segments.ts'
import { foundTemplate } from '../templates/templates.ts'

const members = {
	description: Type.Optional(
		about(
			'A note of your own. Recipients never see it.',
			Nullable(Type.String({ maxLength: 500 })),
		),
	),
	/** Gives what is not given beside it: subject, body, sender and type. */
	template: Type.Optional(
		about(
			'A template to copy subject, body, sender and type from, where they are not given.',
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
			'MARKETING and HEADLESS are sent only to contacts who have subscribed, and MARKETING has a footer to unsubscribe. TRANSACTIONAL is sent to everybody. MARKETING unless you set it.',
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

/** The template that a body names: what it says is the caller's where the caller says nothing else. */
export const namedTemplate = async (em: EntityManager, projectId: string, body: ChangedCampaign) =>
	body.template ? await foundTemplate(em, projectId, body.template) : null

/** What the campaign is to say and to whom: members that are given take the place of what was. */
export function contentOf(
	body: ChangedCampaign,
	template: Template | null,
	before = nothing,
): CampaignContent {
	const { template: _, from, replyTo, audienceCondition, ...rest } = body
	const given = {
		...rest,
		...(body.template === undefined ? {} : { templateId: body.template }),
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
		fromName: template.fromName ?? null,
		replyTo: template.replyTo ?? null,
		type: template.type,
		language: template.language ?? null,
	}
	const all: CampaignContent = { ...before, ...lent, ...unneeded(body), ...given }
	// Open bodies carry more than a campaign: only what it knows is taken.
	return Object.fromEntries(known.map((key) => [key, all[key]])) as unknown as CampaignContent
}

/** Another audience does without these, unless they come with it. */
const unneeded = ({ audienceType }: ChangedCampaign) => ({
	...(audienceType === 'ALL' || audienceType === 'FILTERED' ? { segmentId: null } : {}),
	...(audienceType === 'ALL' || audienceType === 'SEGMENT' ? { audienceCondition: null } : {}),
})

/** What a schema cannot say. */
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

/** Of a body in which the schema found faults, or of what a campaign is to be. */
export function missingIn(given: {
	[member in keyof CampaignContent | 'template']?: unknown
}): FieldError[] {
	const { audienceType, template } = given
	const texts = template ? [] : (['subject', 'body', 'from'] as const)
	return [
		...texts
			.filter((field) => !given[field])
			.map((field) => required(field, 'is required where no template gives it')),
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

/**
 * How many it would go to now. Its segment, and those its condition names, are there, and stay there
 * until the transaction ends.
 */
export async function recipientsOf(db: PoolClient, projectId: string, content: CampaignContent) {
	const { audienceType, segmentId, audienceCondition } = content
	if (segmentId !== null) {
		await lockReferences(db, [projectId])
		existingSegment(await findSegment(db, [projectId, segmentId]), segmentId)
	} else if (audienceType === 'SEGMENT') throw notFound('segment', segmentId)
	if (audienceCondition)
		await checkReferences(db, projectId, audienceCondition, undefined, 'audienceCondition')
	return countAudience(db, projectId, content)
}
