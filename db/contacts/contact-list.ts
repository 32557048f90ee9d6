import type { Pool, PoolClient } from 'pg'
import { containingLowered } from '../like.ts'
import { float, int, text, timestamp, uuid } from '../sql-types.ts'
import { always, joined, ownText, query, sql, type Sql } from '../sql.ts'
import { statement } from '../statement.ts'
import {
	contactIfFound,
	contactRecordColumns,
	type ContactRecord,
	contactRecordFrom,
	isFound,
} from './contact-record.ts'

export interface ContactList {
	projectId: string
	/** A substring of the address; null: all contacts. */
	search: string | null
	subscribed: boolean | null
	sort: 'email' | 'createdAt'
	dir: 'asc' | 'desc'
	/** The sort value and the id of the last contact before this page. */
	after: [string, string] | null
	limit: number
}

const columns = { email: sql`email`, createdAt: sql`created_at` }
const directions = { asc: sql`asc`, desc: sql`desc` }

/** The order of a list, and the condition for contacts after the previous page. */
export function placeOf({ sort, dir, after }: ContactList) {
	const column = columns[sort]
	const order = inDirection(column, dir)
	const reversed = inDirection(column, dir === 'asc' ? 'desc' : 'asc')
	if (after === null) return { column, order, reversed, isAfter: always }
	const value = sort === 'email' ? text.value(after[0]) : timestamp.value(after[0])
	const by = dir === 'asc' ? sql`>` : sql`<`
	const isAfter = sql`(${column}, id) ${by} (${value}, ${uuid.value(after[1])})`
	return { column, order, reversed, isAfter }
}

const inDirection = (column: Sql, dir: ContactList['dir']) =>
	sql`${column} ${directions[dir]}, id ${directions[dir]}`

export const isLike = (search: string) => sql`email like ${text.value(containingLowered(search))}`

const findPage = query('list-contacts', contactRecordColumns)

/**
 * One page. The inner queries use only indexed columns, so a search can scan the index, and full rows are
 * read only for the page. Sorted by date there is one inner query for each subscription state, because
 * that index starts with the state. Merging the two sorted lists costs almost nothing.
 */
export async function listContacts(
	db: Pool | PoolClient,
	list: ContactList,
): Promise<ContactRecord[]> {
	const { sort, dir, search, subscribed, after } = list
	const project = uuid.value(list.projectId)
	const { column, order } = placeOf(list)
	const isFound = search === null ? always : isLike(search)
	const page = sql`with page as materialized (
			select id from (${inOrder(list, sql`id, ${column}`, isFound)}) p
		)
		select ${ownText(contactRecordFrom('c'))} from contacts c
		where project_id = ${project} and id = any(select id from page)
		order by ${order}`
	// With a search the plan depends on the search text; without one it is always the same.
	const shape = `${sort}-${dir}-${subscribed}-${after !== null}`
	return search === null ? findPage(db, page, shape) : findPage(db, page)
}

/** The next contacts of a list, by indexed columns. */
export function inOrder(list: ContactList, selected: Sql, isFound = always) {
	const { sort, subscribed } = list
	const [project, limit] = [uuid.value(list.projectId), int.value(list.limit)]
	const { order, isAfter } = placeOf(list)
	const matching = (state: Sql) =>
		sql`(select ${selected} from contacts
			where project_id = ${project} and ${isAfter} and ${isFound} and ${state}
			order by ${order} limit ${limit})`
	const states = sort === 'email' && subscribed === null ? [always] : statesOf(subscribed)
	return sql`select * from (${joined(states.map(matching), ' union all ')}) p
		order by ${order} limit ${limit}`
}

const isSubscribed = sql`subscribed`
const isUnsubscribed = sql`not subscribed`

export const statesOf = (subscribed: boolean | null) =>
	subscribed === null
		? [isSubscribed, isUnsubscribed]
		: [subscribed ? isSubscribed : isUnsubscribed]

const few = 1000

const search = query('search-contacts', { ...contactIfFound, count: int })

/**
 * A page and the count of a search with few results, found together. null: there are many results, and
 * reading the list in its order is faster.
 */
export async function searchContacts(
	db: Pool | PoolClient,
	list: ContactList & { search: string },
) {
	const project = uuid.value(list.projectId)
	const { order, isAfter } = placeOf(list)
	const rows = await search(
		db,
		sql`with found as materialized (
				select id, email, created_at from contacts
				where project_id = ${project} and ${isLike(list.search)}
					and (${joined(statesOf(list.subscribed), ' or ')}) limit ${int.value(few + 1)}
			), counted as (
				select count(*)::int as count from found
			), page as materialized (
				select id as found_id from found, counted
				where count <= ${int.value(few)} and ${isAfter}
				order by ${order} limit ${int.value(list.limit)}
			)
			select counted.count, ${ownText(contactRecordFrom('c'))} from counted left join (
				page join contacts c on c.project_id = ${project} and c.id = found_id
			) on true
			order by ${order}`,
	)
	const { count } = rows[0]!
	return count > few ? null : { count, contacts: rows.filter(isFound) }
}

const countSearch = query('count-found-contacts', { count: int })

/** The number of contacts that a search finds, from the index `contacts_all` alone. */
export async function countFound(db: Pool | PoolClient, list: ContactList & { search: string }) {
	const states = joined(statesOf(list.subscribed), ' or ')
	const [found] = await countSearch(
		db,
		sql`select count(*)::int as count from contacts
			where project_id = ${uuid.value(list.projectId)} and ${isLike(list.search)}
				and ${list.subscribed === null ? always : states}`,
	)
	return found!.count
}

export const findContact = statement('find-contact', {
	params: { projectId: uuid, contactId: uuid },
	row: contactRecordColumns,
	text: `select ${contactRecordFrom('c')} from contacts c where project_id = $projectId
		and id = $contactId::uuid`,
})

/** The given addresses that belong to contacts. */
export const findAddresses = statement('find-addresses', {
	params: { projectId: uuid, emails: text.array },
	row: { id: uuid, email: text },
	text: `select id, email from contacts where project_id = $projectId
		and email = any($emails::text[])`,
})

/**
 * The size of contacts' data in bytes. Compressed data counts with its maximum, because it is not
 * decompressed.
 */
export const bytesOfContacts = statement('bytes-of-contacts', {
	params: { projectId: uuid, emails: text.array },
	row: { bytes: float },
	text: `select coalesce(sum(case when pg_column_compression(data) is null then pg_column_size(data)
			else 65536 end), 0)::float8 as bytes
		from contacts where project_id = $projectId and email = any($emails::text[])`,
})
