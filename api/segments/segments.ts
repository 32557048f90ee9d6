import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyContextConfig } from 'fastify'
import type { Pool, PoolClient } from 'pg'
import type { Condition } from '../../db/conditions/condition.ts'
import {
	countFound,
	deleteSegment,
	findSegment,
	insertSegment,
	listSegments,
	lockReferences,
	lockSegment,
	storeCount,
	type SegmentRecord,
	segmentsOfList,
	updateSegment,
} from '../../db/segments/segment-records.ts'
import { slugOf } from '../../db/segments/segment-slug.ts'
import { segmentUses, workflowsWithEventsOf } from '../../db/segments/segment-usage.ts'
import { segmentTypes } from '../../db/segments/segment.ts'
import { countInTurn, isTooSlow } from '../../db/timed-reading.ts'
import { transaction, transactional } from '../../db/transaction.ts'
import { checkCondition, conditionExample, ConditionTree } from '../conditions/conditions.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import type { SendPage } from '../requests/large-pages.ts'
import {
	about,
	Body,
	Component,
	Extended,
	Id,
	Name,
	Nullable,
	PathId,
	Timestamp,
} from '../schemas.ts'
import { checkReferences, refuseReferences } from './segment-conditions.ts'

const Segment = Component('Segment', {
	id: Id,
	projectId: Id,
	name: Type.String(),
	description: Nullable(Type.String()),
	type: Type.Enum([...segmentTypes]),
	condition: Nullable(ConditionTree),
	trackMembership: Type.Boolean(),
	memberCount: Type.Integer(),
	computedAt: about(
		'For a tracked dynamic segment: its stored members include all changes up to this time. Null before the first computation, and for other segments.',
		Nullable(Timestamp),
	),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

const ChangedSegment = Extended('ChangedSegment', [Segment], {
	warnings: Type.Array(
		Component('SegmentWarning', { workflowId: Id, name: Type.String(), message: Type.String() }),
		{ description: 'Workflows that name events which the segment no longer emits' },
	),
})

const Description = Type.Optional(
	about('A note of your own.', Nullable(Type.String({ maxLength: 500 }))),
)

const tracks =
	'Create the events segment.<slug>.entry and segment.<slug>.exit when contacts join and leave.'
const tags = ['segments']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('segment') })
/** No condition at all is the simple 400; of a new segment, no name as well. */
const noCondition: FastifyContextConfig['simpleErrors'] = {
	condition: ['required', 'invalid_type'],
}
const noName: FastifyContextConfig['simpleErrors'] = { name: ['required', 'invalid_type'] }

interface Options {
	pool: Pool
	sendPage: SendPage
}

export const segments: FastifyPluginAsyncTypebox<Options> = async (app, { pool, sendPage }) => {
	app.get(
		'/segments',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'List segments, newest first',
				description:
					'The whole list, without pages. `memberCount` is the count of the last computation.',
				response: { 200: Type.Array(Segment) },
			},
		},
		async ({ project }, reply) =>
			sendPage(reply, {
				listed: await listSegments(pool, { projectId: project.id }),
				read: (ids) => segmentsOfList(pool, { projectId: project.id, segmentIds: ids }),
				answer: (rows) => rows.map((row) => ({ ...row, projectId: project.publicId })),
			}),
	)

	app.post(
		'/segments',
		{
			config: { auth, simpleErrors: { ...noName, ...noCondition } },
			schema: {
				tags,
				summary: 'Create a segment',
				description:
					'The contacts that match are counted at once. With `trackMembership`, events start with the first computation, which also counts them if that takes longer than 30 seconds.',
				body: Body(
					{ name: 'Pro', condition: conditionExample },
					{
						name: Name,
						description: Description,
						type: Type.Enum([...segmentTypes], {
							default: 'DYNAMIC',
							description:
								'DYNAMIC: the contacts that match a condition. STATIC: the contacts that you put in.',
						}),
						condition: Type.Optional(
							about('Required for a DYNAMIC segment, ignored for a STATIC one.', ConditionTree),
						),
						trackMembership: Type.Boolean({ default: false, description: tracks }),
					},
				),
				response: { 201: Segment },
			},
		},
		async ({ em, project, body }, reply) => {
			const { name, description = null, type, trackMembership } = body
			const condition = type === 'DYNAMIC' ? checkedCondition(body.condition) : null
			const create = async (em: EntityManager, db: PoolClient, counts: boolean) => {
				const count = condition && (await countOf(db, project.id, condition, { counts }))
				const values = {
					projectId: project.id,
					name,
					description,
					type,
					condition,
					trackMembership,
					memberCount: count ?? 0,
				}
				const { id } = await insertSegment(em, values)
				return existing(await findSegment(db, { projectId: project.id, segmentId: id }), id)
			}
			const created = await countIfQuick(
				{ projectId: project.id, counts: condition !== null, isTracked: trackMembership },
				(counts, limit) => transactional(em, (em, db) => create(em, db, counts), limit),
			)
			return reply.code(201).send(created)
		},
	)

	app.get(
		'/segments/:id',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Get a segment',
				description:
					'`memberCount` is the count of the last computation. POST /segments/{id}/refresh counts again.',
				params: Params,
				response: { 200: Segment },
			},
		},
		async ({ project, params }) =>
			existing(await findSegment(pool, { projectId: project.id, segmentId: params.id }), params.id),
	)

	app.patch(
		'/segments/:id',
		{
			config: { auth, simpleErrors: noCondition },
			schema: {
				tags,
				summary: 'Change a segment',
				description:
					'The type can’t be changed. A new condition is counted at once, and applies at once to filters that name the segment. Stored members and events follow with the next compute.',
				params: Params,
				body: Body(
					{ name: 'Professionals' },
					{
						name: Type.Optional(Name),
						description: Description,
						condition: Type.Optional(
							about(
								'The new condition of a DYNAMIC segment. Ignored for a STATIC one.',
								ConditionTree,
							),
						),
						trackMembership: Type.Optional(Type.Boolean({ description: tracks })),
					},
				),
				response: { 200: ChangedSegment },
			},
		},
		async ({ project, params, body }) => {
			const key = { projectId: project.id, segmentId: params.id }
			const before = existing(await findSegment(pool, key), params.id)
			const isChanged = before.type === 'DYNAMIC' && body.condition !== undefined
			const given = isChanged ? checkedCondition(body.condition) : undefined
			const change = async (db: PoolClient, counts: boolean) => {
				const count = given ? await countOf(db, project.id, given, { id: params.id, counts }) : null
				const segment = existing(await lockSegment(db, key), params.id)
				const { name, description, condition, trackMembership } = {
					...segment,
					...Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)),
					condition: given ?? segment.condition,
				}
				await updateSegment(db, { ...key, name, description, condition, trackMembership })
				if (count !== null) await storeCount(db, { ...key, count })
				const warnings = await lostEvents(db, segment, { name, trackMembership })
				return { ...existing(await findSegment(db, key), params.id), warnings }
			}
			const isTracked = body.trackMembership ?? before.trackMembership
			return countIfQuick(
				{ projectId: project.id, counts: given !== undefined, isTracked },
				(counts, limit) => transaction(pool, (db) => change(db, counts), limit),
			)
		},
	)

	app.delete(
		'/segments/:id',
		{
			config: { auth, errors: [409] },
			schema: {
				tags,
				summary: 'Delete a segment',
				description:
					'Its contacts stay. Refused with 409 while a campaign, a workflow or another segment uses it.',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async ({ em, project, params }, reply) => {
			await transactional(em, async (em, db) => {
				await lockReferences(db, { projectId: project.id })
				const segment = existing(
					await lockSegment(db, { projectId: project.id, segmentId: params.id }),
					params.id,
				)
				const uses = await segmentUses(db, project.id, segment)
				if (Object.values(uses).some((list) => list.length > 0)) throw inUse(uses)
				await deleteSegment(em, project.id, segment.id)
			})
			return reply.code(204).send(null)
		},
	)
}

export function existing(rows: SegmentRecord[], id: string): SegmentRecord {
	if (!rows[0]) throw notFound('segment', id)
	return rows[0]
}

/** A condition that is not an object gets the simple 400. */
function checkedCondition(given: unknown) {
	if (given === undefined)
		throw invalid({ field: 'condition', message: 'is required', code: 'required' })
	return checkCondition(given, 'condition')
}

/** A tracked segment whose members can't be counted in time is written all the same: a compute counts them. */
async function countIfQuick<T>(
	{ projectId, counts, isTracked }: { projectId: string; counts: boolean; isTracked: boolean },
	write: (counts: boolean, limit: string) => Promise<T>,
) {
	const attempt = (counts: boolean) =>
		countInTurn(projectId, (limit) => write(counts, limit), counts)
	try {
		return await attempt(counts)
	} catch (error) {
		if (!isTracked || !isTooSlow(error)) throw error
		return attempt(false)
	}
}

/**
 * The number of members; null if it is not to be counted. The segments that the condition names are checked, and stay
 * until the transaction ends. Counting may take seconds, so they are locked after it.
 */
async function countOf(
	db: PoolClient,
	projectId: string,
	condition: Condition,
	{ id, counts }: { id?: string; counts: boolean },
) {
	await refuseReferences(db, projectId, condition, id)
	const count = counts ? await countFound(db, projectId, condition) : null
	await checkReferences(db, projectId, condition, id)
	return count
}

/** The workflows that name events which this change ends. */
async function lostEvents(
	db: PoolClient,
	segment: SegmentRecord,
	now: { name: string; trackMembership: boolean },
) {
	const slug = slugOf({ ...segment, name: now.name })
	const isRenamed = slug !== slugOf(segment)
	if (!segment.trackMembership || (now.trackMembership && !isRenamed)) return []
	const workflows = await workflowsWithEventsOf(db, segment.projectId, segment)
	const instead = now.trackMembership
		? `The events are now segment.${slug}.entry and segment.${slug}.exit`
		: 'It no longer tracks its members, so there are none'
	return workflows.map(({ id, name }) => ({
		workflowId: id,
		name,
		message: `The workflow "${name}" names the events of "${segment.name}". ${instead}`,
	}))
}

const inUse = (usedBy: Awaited<ReturnType<typeof segmentUses>>) =>
	new ApiError(409, 'CONFLICT', 'This segment is in use', {
		details: { usedBy },
		suggestion: 'Change the uses named in details first.',
	})
