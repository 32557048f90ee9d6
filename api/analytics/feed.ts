import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	countEntries,
	countFeedOfContact,
	feedPage,
	feedPageOfContact,
	type FeedType,
	feedTypes,
	sourcesOf,
} from '../../db/analytics/feed.ts'
import { lastId } from '../../db/events/event.ts'
import { eventSums } from '../../db/events/event-queries.ts'
import { ApiError } from '../errors.ts'
import { readEventCounts, readEventsOfContact } from '../events/event-counts.ts'
import {
	about,
	Component,
	Cursor,
	CursorTime,
	cursorPage,
	decodeCursor,
	encodeCursor,
	Id,
	Json,
	Timestamp,
} from '../schemas.ts'
import { Period, readPeriod } from './period.ts'

const FeedItem = Component('Activity', {
	id: Id,
	type: Type.Enum(feedTypes),
	timestamp: Timestamp,
	contactEmail: Type.Optional(Type.String()),
	contactId: Type.Optional(Id),
	metadata: Json,
})

const Position = Type.Tuple([CursorTime, Id])

const windowDays = 30
const dayMs = 86_400_000

export const feed: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/activity',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags: ['activity'],
				summary: 'List activities, newest first',
				description: 'Covers the last 30 days unless you set startDate.',
				querystring: Type.Object({
					...Period,
					types: Type.Optional(
						Type.Array(Type.String(), {
							description: `Some of ${feedTypes.join(', ')}; separated by commas, or repeated`,
						}),
					),
					contactId: Type.Optional(about('Only activities of this contact.', Id)),
					cursor: Cursor,
					limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
				}),
				response: { 200: cursorPage(FeedItem) },
			},
		},
		async ({ project, query }) => {
			const { cursor, contactId } = query
			const size = Math.min(query.limit, 100)
			const { start, end } = feedWindow(query)
			const sources = sourcesOf(readTypes(query.types))
			const filter = {
				projectId: project.id,
				eventNames: sources.names,
				others: sources.triggered,
				entryTypes: sources.entries,
				since: start,
			}
			const [time, id] = cursor === undefined ? [null, lastId] : decodeCursor(Position, cursor)
			const before = time === null ? (end ?? 'infinity') : new Date(time)
			const values = { ...filter, before, beforeId: id, limit: size + 1 }
			const [rows, total] = await Promise.all([
				contactId === undefined
					? feedPage(pool, values)
					: readEventsOfContact(pool, project.id, (db) =>
							feedPageOfContact(db, { ...values, contactId }),
						),
				cursor !== undefined
					? 0
					: contactId === undefined
						? countFeed(pool, project.id, sources, start, end)
						: readEventsOfContact(pool, project.id, async (db) => {
								const [row] = await countFeedOfContact(db, { ...filter, until: end, contactId })
								return row!.total
							}),
			])
			const data = rows.slice(0, size).map(viewOfItem)
			const last = data.at(-1)
			const hasMore = rows.length > size
			return {
				data,
				...(hasMore && last ? { cursor: encodeCursor([last.timestamp.getTime(), last.id]) } : {}),
				hasMore,
				total,
			}
		},
	)
}

/** Thirty days by default, from the start of a day, because whole days are counted already. */
export function feedWindow(query: { startDate?: string; endDate?: string }) {
	const { start, end } = readPeriod(query)
	if (start) return { start, end }
	const since = (end?.getTime() ?? Date.now()) - windowDays * dayMs
	return { start: new Date(since - (since % dayMs)), end }
}

function readTypes(given: string[] | undefined): FeedType[] {
	const types = (given ?? []).flatMap((text) => text.split(',')).map((type) => type.trim())
	const named = types.filter((type) => type !== '')
	const unknown = named.find((type) => !feedTypes.includes(type as FeedType))
	if (unknown !== undefined)
		throw new ApiError(400, 'BAD_REQUEST', `There is no type ${unknown}`, {
			errors: [
				{
					field: 'types',
					message: `must be some of ${feedTypes.join(', ')}`,
					code: 'invalid_enum_value',
					received: unknown,
				},
			],
			suggestion: 'GET /activity/types lists them.',
		})
	return named.length === 0 ? feedTypes : (named as FeedType[])
}

/** All items of some sources: events from their counts by day, entries in their index. */
export async function countFeed(
	pool: Pool,
	projectId: string,
	{ names, triggered, entries }: ReturnType<typeof sourcesOf>,
	start: Date,
	end: Date | null,
) {
	const [events, [entered]] = await Promise.all([
		readEventCounts(pool, projectId, (db) =>
			eventSums(db, { projectId, since: start, until: end }),
		),
		countEntries(pool, { projectId, entryTypes: entries, since: start, until: end }),
	])
	const wanted = events.filter(({ name }) =>
		name === 'event.triggered' ? triggered : (names as string[]).includes(name),
	)
	return wanted.reduce((sum, { count }) => sum + count, entered!.total)
}

/** Activities of deleted contacts are left out. */
export const viewOfItem = <Item extends { contactId: string | null; contactEmail: string | null }>({
	contactId,
	contactEmail,
	...item
}: Item) => ({
	...item,
	...(contactId === null || contactEmail === null ? {} : { contactId, contactEmail }),
})
