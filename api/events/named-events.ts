import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	deleteEvents,
	eventNames,
	eventTotals,
	forgetCounts,
	mostNames,
} from '../../db/events/event-queries.ts'
import { eventUsage } from '../../db/events/event-usage.ts'
import { scanWithin } from '../../db/timed-reading.ts'
import { ApiError } from '../errors.ts'
import { Component, Reference } from '../schemas.ts'
import { readEventCounts } from './event-counts.ts'
import { isReservedEvent } from './event-names.ts'

const Usage = Component('EventUsage', {
	usedInSegments: Type.Array(Reference),
	usedInCampaigns: Type.Array(Reference, { description: 'Campaigns that have not ended' }),
	usedInWorkflows: Type.Array(Reference),
	totalCount: Type.Integer(),
	uniqueContacts: Type.Integer(),
	canDelete: Type.Boolean(),
})

const NameParams = Type.Object({
	eventName: Type.String({ description: 'The name of the event.' }),
})

const config = { auth: 'secret key or session' } as const
const tags = ['events']
/** For counting the contacts of an event. */
const mostMs = 15_000
/** Keeps transactions short, so that other writers of events never wait long. */
const deletedAtOnce = 10_000

/** Routes about all events of one name. */
export const namedEvents: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/events/names',
		{
			config,
			schema: {
				tags,
				summary: 'List the names of events, most frequent first',
				description: `At most ${mostNames}.`,
				response: { 200: Type.Object({ eventNames: Type.Array(Type.String()) }) },
			},
		},
		async ({ project }) => {
			const rows = await readEventCounts(pool, project.id, (db) =>
				eventNames(db, { projectId: project.id }),
			)
			return { eventNames: rows.map(({ name }) => name) }
		},
	)

	app.get(
		'/events/:eventName/usage',
		{
			config,
			schema: {
				tags,
				summary: 'Get the uses of an event',
				description:
					'Segments, campaigns and workflows that use the event. Check it before you delete or rename an event.',
				params: NameParams,
				response: { 200: Usage },
			},
		},
		async ({ project, params }) => usageOf(project.id, params.eventName.trim()),
	)

	// An event may have this name, and GET /events/contact/{contactId} would match it.
	app.get(
		'/events/contact/usage',
		{ config, schema: { hide: true, response: { 200: Usage } } },
		async ({ project }) => usageOf(project.id, 'contact'),
	)

	app.delete(
		'/events/:eventName',
		{
			config: { ...config, errors: [400, 409] },
			schema: {
				tags,
				summary: 'Delete all events of a name',
				description:
					'Refused with 409 while a segment, campaign or workflow uses the event. Events of the service itself can’t be deleted.',
				params: NameParams,
				response: { 200: Type.Object({ deletedCount: Type.Integer() }) },
			},
		},
		async ({ project, params }) => {
			const name = params.eventName.trim()
			if (isReservedEvent(name))
				throw new ApiError(400, 'BAD_REQUEST', `${name} is an event of the service itself`, {
					suggestion: 'Only custom events can be deleted.',
				})
			const [found] = await eventUsage(pool, { projectId: project.id, eventName: name })
			const { askedAt, ...usage } = found!
			if (isUsed(usage))
				throw new ApiError(409, 'CONFLICT', `The event ${name} is in use`, {
					details: usage,
					suggestion: 'Remove it from these segments, campaigns and workflows first.',
				})
			let deletedCount = 0
			for (let more = true; more;) {
				const [row] = await deleteEvents(pool, {
					projectId: project.id,
					eventName: name,
					askedAt,
					limit: deletedAtOnce,
				})
				deletedCount += row!.deleted
				more = row!.deleted > 0
			}
			await forgetCounts(pool, { projectId: project.id, eventName: name, askedAt })
			return { deletedCount }
		},
	)

	async function usageOf(projectId: string, name: string) {
		const [[usage], totals] = await Promise.all([
			eventUsage(pool, { projectId, eventName: name }),
			scanWithin(pool, projectId, mostMs, (db) => eventTotals(db, { projectId, eventName: name })),
		])
		if (!totals) throw tooMany()
		const canDelete = !isReservedEvent(name) && !isUsed(usage!)
		return { ...usage!, ...totals[0]!, canDelete }
	}
}

const tooMany = () =>
	new ApiError(
		503,
		'DATABASE_ERROR',
		'There are too many events of this name to count their contacts',
		{
			retryAfterSeconds: 60,
		},
	)

const isUsed = (
	usage: Record<'usedInSegments' | 'usedInCampaigns' | 'usedInWorkflows', unknown[]>,
) => usage.usedInSegments.length + usage.usedInCampaigns.length + usage.usedInWorkflows.length > 0
