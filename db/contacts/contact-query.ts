import type { Pool, PoolClient } from 'pg'
import { int, timestamp, text, uuid } from '../sql-types.ts'
import { joined, ownText, query, sql, type Sql } from '../sql.ts'
import { readOrScan, scanWithin } from '../timed-reading.ts'
import { type ContactList, inOrder, isLike, placeOf, statesOf } from './contact-list.ts'
import {
	contactIfFound,
	contactRecordColumns,
	type ContactRecord,
	contactRecordFrom,
	isFound,
} from './contact-record.ts'
import { countMatching } from './matching-contacts.ts'

// The contacts that a condition finds, in the order of a list. Reading the list in its order is fast if many
// contacts match, and reading all contacts once is faster if few do. Nobody knows in advance, so the first is
// tried for a moment.

export interface ContactQuery extends ContactList {
	/** A predicate on contacts `c`. */
	isMeant: Sql
}

const walkMs = 200
const walkedAtOnce = 1000
/** For each statement. */
const mostMs = 5000

/** The sort value and the id of a contact. */
type Place = [string, string]

export interface FoundContacts {
	rows: ContactRecord[]
	/** The contact up to which the list was searched; null: to its end, or until the page was full. */
	searchedTo: Place | null
}

/** null: the condition is too slow even for the few contacts at the beginning. */
export async function queryContacts(pool: Pool, list: ContactQuery): Promise<FoundContacts | null> {
	const end = performance.now() + walkMs
	const rows: ContactRecord[] = []
	let { after } = list
	do {
		const wanted = { ...list, after, limit: list.limit - rows.length }
		const step = await readOrScan(pool, list.projectId, mostMs, (db) => walk(db, wanted), walkMs)
		if (!step) return rows.length > 0 ? { rows, searchedTo: after } : null
		rows.push(...step.rows)
		after = step.searchedTo
		if (after === null || rows.length === list.limit) return { rows, searchedTo: null }
	} while (performance.now() < end)
	const all = await scanWithin(pool, list.projectId, mostMs, (db) => scanContacts(db, list))
	return all ? { rows: all, searchedTo: null } : { rows, searchedTo: after }
}

/** null: counting takes too long. */
export const countQueried = (pool: Pool, list: ContactQuery) =>
	scanWithin(pool, list.projectId, mostMs, (db) =>
		countMatching(
			db,
			list.projectId,
			sql`(${joined(statesOf(list.subscribed), ' or ')}) and ${meant(list)}`,
		),
	)

const meant = ({ search, isMeant }: ContactQuery) =>
	search === null ? isMeant : sql`${isLike(search)} and ${isMeant}`

const findNext = query('walk-contacts', {
	...contactIfFound,
	walked: int,
	lastId: uuid,
	lastEmail: text,
	lastCreatedAt: timestamp,
})

/** Asks the next contacts of the list one by one, whatever the planner expects of the condition. */
async function walk(db: Pool | PoolClient, list: ContactQuery): Promise<FoundContacts> {
	const project = uuid.value(list.projectId)
	const { order, reversed } = placeOf(list)
	const found = await findNext(
		db,
		sql`with walked as materialized (
				${inOrder({ ...list, limit: walkedAtOnce }, sql`id, email, created_at`)}
			), matching as materialized (
				select id from (
					select w.id, w.email, w.created_at from walked w cross join lateral (
						select from contacts c where c.project_id = ${project} and c.id = w.id
							and ${meant(list)} offset 0
					) m
				) m order by ${order} limit ${int.value(list.limit)}
			), last as (
				select id as "lastId", email as "lastEmail", created_at as "lastCreatedAt",
					(select count(*)::int from walked) as walked
				from walked order by ${reversed} limit 1
			)
			select last.*, ${ownText(contactRecordFrom('c'))} from last left join (
				select * from contacts where project_id = ${project} and id = any(select id from matching)
			) c on true order by ${order}`,
	)
	const [first] = found
	if (!first || first.walked < walkedAtOnce)
		return { rows: found.filter(isFound), searchedTo: null }
	const value = list.sort === 'email' ? first.lastEmail : first.lastCreatedAt.toISOString()
	return { rows: found.filter(isFound), searchedTo: [value, first.lastId] }
}

const findAll = query('scan-contacts', contactRecordColumns)

/** The page from one pass over all contacts. */
export async function scanContacts(
	db: Pool | PoolClient,
	list: ContactQuery,
): Promise<ContactRecord[]> {
	const project = uuid.value(list.projectId)
	const { order, isAfter } = placeOf(list)
	return findAll(
		db,
		sql`with matching as materialized (
				select id, email, created_at from contacts c where c.project_id = ${project} and ${isAfter}
					and (${joined(statesOf(list.subscribed), ' or ')}) and ${meant(list)}
			), page as materialized (
				select id from matching order by ${order} limit ${int.value(list.limit)}
			)
			select ${ownText(contactRecordFrom('c'))} from contacts c
			where project_id = ${project} and id = any(select id from page) order by ${order}`,
	)
}
