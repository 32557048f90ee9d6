import { types, type Pool } from 'pg'
import { containingLowered } from '../like.ts'
import { statement } from '../statement.ts'
import { type ContactRecord, contactRecord } from './contact-record.ts'

export interface ContactList {
	projectId: string
	/** A substring of the address; null: all. */
	search: string | null
	subscribed: boolean | null
	sort: 'email' | 'createdAt'
	dir: 'asc' | 'desc'
	/** The sort value and the id of the last contact before this page. */
	after: [string, string] | null
	limit: number
}

/** The condition of a page, with its parameters. */
function conditionOf({ sort, dir, after }: ContactList, values: unknown[]) {
	const put = (value: unknown, type: string) => `$${values.push(value)}::${type}`
	const column = sort === 'email' ? 'email' : 'created_at'
	const order = `${column} ${dir}, id ${dir}`
	if (after === null) return { column, order, put, isAfter: 'true' }
	const position = `(${put(after[0], sort === 'email' ? 'text' : 'timestamptz')}, ${put(after[1], 'uuid')})`
	return { column, order, put, isAfter: `(${column}, id) ${dir === 'asc' ? '>' : '<'} ${position}` }
}

/**
 * One page. The inner queries name only what is in an index, so that a search may walk it; only the
 * page's own rows are read. By date there is an inner query for each state of subscription, because
 * their index begins with it; merging two sorted lists costs nothing.
 */
export async function listContacts(pool: Pool, list: ContactList): Promise<ContactRecord[]> {
	const { sort, dir, search, subscribed, after, limit } = list
	const values: unknown[] = [list.projectId, limit]
	const { column, order, put, isAfter } = conditionOf(list, values)
	const isFound = search === null ? 'true' : `email like ${put(containingLowered(search), 'text')}`
	const where = `project_id = $1 and ${isAfter} and ${isFound}`
	const matching = (state: string) =>
		`(select id, ${column} from contacts where ${where} and ${state} order by ${order} limit $2)`
	const states = sort === 'email' && subscribed === null ? ['true'] : statesOf(subscribed)
	const text = `with page as materialized (
			select id from (${states.map(matching).join(' union all ')}) as p order by ${order} limit $2
		)
		select ${contactRecord('c')} from contacts c where project_id = $1 and id = any(select id from page)
		order by ${order}`
	// With a search the plan depends on what is searched for; without, it is always the same.
	const shape = `${sort}-${dir}-${subscribed}-${after !== null}`
	const name = search === null ? { name: `list-contacts-${shape}` } : {}
	return (await pool.query({ ...name, text, values, types })).rows
}

const statesOf = (subscribed: boolean | null) =>
	subscribed === null
		? ['subscribed', 'not subscribed']
		: [subscribed ? 'subscribed' : 'not subscribed']

const few = 1000

/**
 * A page and the count of a search that finds few, in one look for them; null: it finds more, and
 * walking the list in its order is the quicker way.
 */
export async function searchContacts(pool: Pool, list: ContactList & { search: string }) {
	const values: unknown[] = [list.projectId, list.limit, containingLowered(list.search)]
	const { order, isAfter } = conditionOf(list, values)
	const { rows } = await pool.query({
		text: `with found as materialized (
				select id, email, created_at from contacts where project_id = $1 and email like $3::text
					and (${statesOf(list.subscribed).join(' or ')}) limit ${few + 1}
			), counted as (
				select count(*)::int as count from found
			), page as materialized (
				select id from found, counted where count <= ${few} and ${isAfter}
				order by ${order} limit $2
			)
			select counted.count, contacts.* from counted left join (
				select ${contactRecord('c')} from contacts c where project_id = $1 and id = any(select id from page)
			) contacts on true
			order by ${order.replace('created_at', '"createdAt"')}`,
		values,
		types,
	})
	const { count } = rows[0] as { count: number }
	if (count > few) return null
	const isContact = (row: { id: string | null }) => row.id !== null
	return { count, contacts: rows.filter(isContact) as ContactRecord[] }
}

/** How many contacts a search finds, without reading any. */
export async function countFound(pool: Pool, list: ContactList & { search: string }) {
	const { rows } = await pool.query({
		text: `select count(*)::int as count from contacts
			where project_id = $1 and email like $2 and subscribed = any($3::bool[])`,
		values: [
			list.projectId,
			containingLowered(list.search),
			list.subscribed === null ? [true, false] : [list.subscribed],
		],
		types,
	})
	return (rows as { count: number }[])[0]!.count
}

/** $1 project, $2 id */
export const findContact = statement<ContactRecord>(
	'find-contact',
	`select ${contactRecord('c')} from contacts c where project_id = $1 and id = $2::uuid`,
)

/** Which of the addresses belong to contacts. $1 project, $2 normalized addresses */
export const findAddresses = statement<{ id: string; email: string }>(
	'find-addresses',
	`select id, email from contacts where project_id = $1 and email = any($2::text[])`,
)
