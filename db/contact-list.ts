import { types, type Pool } from 'pg'
import { statement } from './statement.ts'

export interface ListedContact {
	id: string
	email: string
	subscribed: boolean
	data: Record<string, unknown>
	createdAt: Date
	updatedAt: Date
}

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

const view = 'id, email, subscribed, data, created_at as "createdAt", updated_at as "updatedAt"'

/**
 * One page. The inner queries name only what is in an index, so that a search may walk it; only the
 * page's own rows are read. By date there is an inner query for each state of subscription, because
 * their index begins with it; merging two sorted lists costs nothing.
 */
export async function listContacts(pool: Pool, list: ContactList): Promise<ListedContact[]> {
	const { sort, dir, search, subscribed, after, limit } = list
	const values: unknown[] = [list.projectId, limit]
	const put = (value: unknown) => `$${values.push(value)}`
	const column = sort === 'email' ? 'email' : 'created_at'
	const type = sort === 'email' ? 'text' : 'timestamptz'
	const order = `${column} ${dir}, id ${dir}`
	let where = 'project_id = $1'
	if (search !== null) where += ` and email like ${put(likePattern(search))}::text`
	if (after !== null)
		where += ` and (${column}, id) ${dir === 'asc' ? '>' : '<'}
			(${put(after[0])}::${type}, ${put(after[1])}::uuid)`
	const matching = (more: string) =>
		`(select id, ${column} from contacts where ${where} ${more} order by ${order} limit $2)`
	const states = sort === 'email' && subscribed === null ? [''] : statesOf(subscribed)
	const text = `with page as materialized (
			select id from (${states.map(matching).join(' union all ')}) as p order by ${order} limit $2
		)
		select ${view} from contacts where project_id = $1 and id = any(select id from page)
		order by ${order}`
	// With a search the plan depends on what is searched for; without, it is always the same.
	const shape = `${sort}-${dir}-${subscribed}-${after !== null}`
	const name = search === null ? { name: `list-contacts-${shape}` } : {}
	return (await pool.query({ ...name, text, values, types })).rows
}

const statesOf = (subscribed: boolean | null) =>
	subscribed === null
		? ['and subscribed', 'and not subscribed']
		: [subscribed ? 'and subscribed' : 'and not subscribed']

/** How many contacts a search finds, without reading any. */
export async function countFound(pool: Pool, list: ContactList & { search: string }) {
	const { rows } = await pool.query({
		text: `select count(*)::int as count from contacts
			where project_id = $1 and email like $2 and subscribed = any($3::bool[])`,
		values: [
			list.projectId,
			likePattern(list.search),
			list.subscribed === null ? [true, false] : [list.subscribed],
		],
		types,
	})
	return (rows as { count: number }[])[0]!.count
}

/** $1 project, $2 id */
export const findContact = statement<ListedContact>(
	'find-contact',
	`select ${view} from contacts where project_id = $1 and id = $2::uuid`,
)

/** Which of the addresses belong to contacts. $1 project, $2 normalized addresses */
export const findAddresses = statement<{ id: string; email: string }>(
	'find-addresses',
	`select id, email from contacts where project_id = $1 and email = any($2::text[])`,
)

const likePattern = (search: string) =>
	`%${search.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
