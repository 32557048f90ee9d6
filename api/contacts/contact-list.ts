import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool, PoolClient } from 'pg'
import { countContacts } from '../../db/contacts/contact-fields.ts'
import {
	type ContactList,
	countFound,
	listContacts,
	searchContacts,
} from '../../db/contacts/contact-list.ts'
import type { ContactRecord } from '../../db/contacts/contact-record.ts'
import { readOrScan, scanWithin } from '../../db/timed-reading.ts'
import { searchTooSlow } from '../errors.ts'
import { Cursor, CursorTime, cursorPage, decodeCursor, encodeCursor, Id } from '../schemas.ts'
import { Contact } from './contacts.ts'

/** Quick enough for searches of a million contacts with the index of trigrams. */
const quickMs = 500
/** Shorter searches don't use it, and read all addresses. */
const fewestIndexed = 3
const mostMs = 15_000

const Position = Type.Union([
	Type.Tuple([Type.Literal('createdAt'), CursorTime, Id]),
	Type.Tuple([Type.Literal('email'), Type.String({ pattern: '^[\\x21-\\x7e]{1,254}$' }), Id]),
])

// A value that can't be understood counts as not given, so the list always answers. The schemas
// take any text and only document what is meant.
const Query = Type.Object({
	limit: Type.Optional(
		Type.Unsafe<string>({
			type: ['integer', 'string'],
			default: 20,
			description: 'How many contacts a page has. A larger number counts as 100.',
			'x-documented': { type: 'integer', minimum: 1, maximum: 100 },
		}),
	),
	cursor: Cursor,
	search: Type.Optional(Type.String({ description: 'Part of the address' })),
	subscribed: Type.Optional(
		Type.String({
			description: 'Only contacts who have subscribed, or only those who have not.',
			'x-documented': { type: 'boolean' },
		}),
	),
	sort: Type.Optional(
		Type.String({
			default: 'createdAt',
			description: 'What the list is sorted by.',
			'x-documented': { enum: ['email', 'createdAt'] },
		}),
	),
	dir: Type.Optional(
		Type.String({
			default: 'desc',
			description: 'The order of the list: ascending or descending.',
			'x-documented': { enum: ['asc', 'desc'] },
		}),
	),
})

export const contactList: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/contacts',
		{
			config: { auth: 'secret key or session', errors: [400] },
			preValidation: async ({ query }) => forgetRepeated(query),
			schema: {
				tags: ['contacts'],
				summary: 'List contacts',
				description:
					'`total` is counted for the first page only, and is 0 on later ones. A parameter that can’t be understood counts as not given.',
				querystring: Query,
				response: { 200: cursorPage(Contact) },
			},
		},
		async ({ project, query }) => {
			const size = limitOf(query.limit)
			const sort = query.sort === 'email' ? 'email' : 'createdAt'
			const list: ContactList = {
				projectId: project.id,
				search: query.search?.trim() || null,
				subscribed: flags.get(query.subscribed ?? '') ?? null,
				sort,
				dir: query.dir === 'asc' ? 'asc' : 'desc',
				after: query.cursor === undefined ? null : positionOf(query.cursor, sort),
				limit: size + 1,
			}
			const { rows, total } = await pageOf(pool, list, true)
			return { ...envelopeOf(list, rows), total }
		},
	)
}

/** A parameter given twice is ignored. A wrong cursor is refused, or its reader would start again. */
function forgetRepeated(query: Record<string, unknown>) {
	for (const [name, value] of Object.entries(query))
		if (typeof value !== 'string' && name !== 'cursor') delete query[name]
}

const flags = new Map([
	['true', true],
	['false', false],
])

function limitOf(given: unknown) {
	const limit = /^\d+$/.test(String(given)) ? Number(given) : 0
	return limit < 1 ? 20 : Math.min(limit, 100)
}

/**
 * The page without its total, from rows that may include one more. `searchedTo`: the search ended there, before
 * it had filled the page.
 */
export function envelopeOf(
	{ sort, limit }: ContactList,
	rows: ContactRecord[],
	searchedTo: ContactList['after'] = null,
) {
	const data = rows.slice(0, limit - 1)
	const last = data.at(-1)
	if (rows.length === limit && last) {
		const value = sort === 'email' ? last.email : last.createdAt.getTime()
		return { data, cursor: encodeCursor([sort, value, last.id]), hasMore: true }
	}
	if (!searchedTo) return { data, hasMore: false }
	const [at, id] = searchedTo
	const value = sort === 'email' ? at : new Date(at).getTime()
	return { data, cursor: encodeCursor([sort, value, id]), hasMore: true }
}

/** A cursor for another order is not valid for this one. */
export function positionOf(cursor: string, sort: ContactList['sort']): ContactList['after'] {
	const [by, value, id] = decodeCursor(Position, cursor)
	if (by !== sort) return decodeCursor(Type.Never(), cursor)
	return [typeof value === 'number' ? new Date(value).toISOString() : value, id]
}

/** `counts`: the first page has a total, even if counting takes time. */
export async function pageOf(pool: Pool, { search, ...rest }: ContactList, counts: boolean) {
	const isFirst = rest.after === null
	if (search !== null) return searchedPage(pool, { ...rest, search }, counts)
	const list = { ...rest, search }
	const [rows, total] = await Promise.all([
		listContacts(pool, list),
		isFirst ? totalOf(pool, list) : 0,
	])
	return { rows, total, isCounted: isFirst }
}

async function totalOf(pool: Pool, { projectId, subscribed }: ContactList) {
	const counts = await countContacts(pool, { projectId })
	return counts
		.filter((row) => subscribed === null || row.subscribed === subscribed)
		.reduce((sum, { count }) => sum + count, 0)
}

async function searchedPage(pool: Pool, list: ContactList & { search: string }, counts: boolean) {
	const isIndexed = list.search.length >= fewestIndexed
	const read = async <T>(find: (db: PoolClient) => Promise<T>) => {
		const found = isIndexed
			? await readOrScan(pool, list.projectId, mostMs, find, quickMs)
			: await scanWithin(pool, list.projectId, mostMs, find)
		if (found === null) throw searchTooSlow()
		return found
	}
	const isFirst = list.after === null
	const { few } = await read(async (db) => ({ few: await searchContacts(db, list) }))
	if (few) return { rows: few.contacts, total: isFirst ? few.count : 0, isCounted: isFirst }
	const isCounted = isFirst && counts
	const [rows, total] = await Promise.all([
		read((db) => listContacts(db, list)),
		isCounted ? read((db) => countFound(db, list)) : 0,
	])
	return { rows, total, isCounted }
}
