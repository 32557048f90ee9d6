import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool, PoolClient } from 'pg'
import {
	type CampaignRecord,
	campaignsOfPage,
	countCampaigns,
	findCampaign,
	insertCampaign,
	listCampaigns,
	type Sort,
} from '../../db/campaigns/campaign-records.ts'
import { audienceTypes, campaignStatuses } from '../../db/campaigns/campaign.ts'
import { containing } from '../../db/like.ts'
import { mailTypes } from '../../db/templates/template.ts'
import { countInTurn } from '../../db/timed-reading.ts'
import { transactional } from '../../db/transaction.ts'
import { ConditionTree } from '../conditions/conditions.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import type { SendPage } from '../requests/large-pages.ts'
import type { Failure } from '../requests/unions.ts'
import {
	about,
	Component,
	Direction,
	Id,
	Nullable,
	page,
	PageNumber,
	PathId,
	success,
	Timestamp,
} from '../schemas.ts'
import { requireSender, withSender } from '../send/sender.ts'
import {
	checkContent,
	contentOf,
	refuseTime,
	missingIn,
	namedTemplate,
	NewCampaign,
	recipientsOf,
} from './campaign-content.ts'

const NullableText = Nullable(Type.String())
const NullableTime = Nullable(Timestamp)
const Count = Type.Integer()

export const Campaign = Component('Campaign', {
	id: Id,
	name: Type.String(),
	description: NullableText,
	subject: Type.String(),
	body: Type.String(),
	from: Type.String(),
	fromName: NullableText,
	replyTo: NullableText,
	type: Type.Enum([...mailTypes]),
	language: NullableText,
	templateId: Nullable(Id),
	status: Type.Enum([...campaignStatuses]),
	audienceType: Type.Enum([...audienceTypes]),
	audienceCondition: Nullable(ConditionTree),
	segmentId: Nullable(Id),
	scheduledFor: NullableTime,
	totalRecipients: Count,
	sentCount: Count,
	deliveredCount: Count,
	openedCount: Count,
	clickedCount: Count,
	bouncedCount: Count,
	complainedCount: Count,
	unsubscribedCount: Count,
	failedCount: Count,
	pausedAt: NullableTime,
	pausedReason: NullableText,
	cancelledReason: NullableText,
	projectId: Id,
	sentAt: NullableTime,
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

const tags = ['campaigns']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('campaign') })

interface Options {
	pool: Pool
	sendPage: SendPage
}

export const campaigns: FastifyPluginAsyncTypebox<Options> = async (app, { pool, sendPage }) => {
	app.get(
		'/campaigns',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'List campaigns',
				description: 'Includes the bodies. A page size over 100 counts as 100.',
				querystring: Type.Object({
					page: PageNumber,
					pageSize: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
					status: Type.Optional(
						about('Only campaigns with this status.', Type.Enum([...campaignStatuses])),
					),
					search: Type.Optional(Type.String({ description: 'Part of name, subject or sender' })),
					sort: Type.String({
						default: 'createdAt',
						description: 'What the list is sorted by.',
						'x-documented': { enum: ['name', 'createdAt', 'updatedAt'] },
					}),
					dir: Direction,
				}),
				response: { 200: page(Campaign) },
			},
		},
		async ({ project, query }, reply) => {
			const pageSize = Math.min(query.pageSize, 100)
			const sort: Sort =
				query.sort === 'name' || query.sort === 'updatedAt' ? query.sort : 'createdAt'
			const search = query.search ? containing(query.search) : null
			const wanted = { projectId: project.id, status: query.status ?? null, pattern: search }
			const offset = (query.page - 1) * pageSize
			const [listed, [counted]] = await Promise.all([
				listCampaigns[sort][query.dir](pool, { ...wanted, limit: pageSize, offset }),
				countCampaigns(pool, wanted),
			])
			const { total } = counted!
			const totalPages = Math.ceil(total / pageSize)
			return sendPage(reply, {
				listed,
				read: (ids) => campaignsOfPage(pool, { projectId: project.id, campaignIds: ids }),
				answer: (rows) => ({
					data: rows.map(viewFor(project)),
					page: query.page,
					pageSize,
					total,
					totalPages,
				}),
			})
		},
	)

	app.post(
		'/campaigns',
		{
			// The schema's faults are reported together with the handler's.
			attachValidation: true,
			config: { auth, errors: [403, 404] },
			schema: {
				tags,
				summary: 'Create a campaign',
				description:
					'It starts as a DRAFT: nothing is sent before POST /campaigns/{id}/send. The audience is counted at once, and again when it is sent.',
				body: NewCampaign,
				response: { 201: success(Campaign) },
			},
		},
		async ({ em, project, body: given, validationError }, reply) => {
			if (validationError) throw wholeOf(validationError.validation as Failure[], given)
			refuseTime(given)
			const body = withSender(given)
			const content = contentOf(body, await namedTemplate(em, project.id, body))
			await checkContent(project.id, content)
			await requireSender(em, project.id, content.from)
			const create = async (em: EntityManager, db: PoolClient) => {
				const recipients = await recipientsOf(db, project.id, content)
				const { id } = await insertCampaign(em, project.id, content, recipients)
				return existing(await findCampaign(db, { projectId: project.id, campaignId: id }), id)
			}
			const created = await unlessGone(body.template, () =>
				countInTurn(project.id, (limit) => transactional(em, create, limit)),
			)
			return reply.code(201).send({ success: true, data: viewFor(project)(created) })
		},
	)

	app.get(
		'/campaigns/:id',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Get a campaign',
				description: 'The counters are current.',
				params: Params,
				response: { 200: Campaign },
			},
		},
		async ({ project, params }) =>
			viewFor(project)(
				existing(
					await findCampaign(pool, { projectId: project.id, campaignId: params.id }),
					params.id,
				),
			),
	)
}

export function existing(rows: CampaignRecord[], id: string): CampaignRecord {
	if (!rows[0]) throw notFound('campaign', id)
	return rows[0]
}

export const viewFor =
	({ publicId }: { publicId: string }) =>
	(campaign: CampaignRecord) => ({ ...campaign, projectId: publicId })

/** A template that is deleted during the write counts as missing. */
export async function unlessGone<T>(template: string | null | undefined, write: () => Promise<T>) {
	try {
		return await write()
	} catch (error) {
		const isGone = (error as { constraint?: string }).constraint === 'campaigns_template'
		throw isGone ? notFound('template', template) : error
	}
}

/** The faults that the schema found, and missing members that it can't know of. */
function wholeOf(failures: Failure[], body: Parameters<typeof missingIn>[0]) {
	const faults = fieldErrors(failures)
	const named = new Set(faults.map(({ field }) => field))
	const missing = named.has('') ? [] : missingIn(body).filter(({ field }) => !named.has(field))
	return invalid(...faults, ...missing)
}

export function wrongState({ status, pausedAt }: CampaignRecord, done: string, suggestion: string) {
	const state = pausedAt ? `${status} and paused` : status
	return new ApiError(400, 'BAD_REQUEST', `A campaign that is ${state} cannot be ${done}`, {
		details: { status },
		suggestion,
	})
}
