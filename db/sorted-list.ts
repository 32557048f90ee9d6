import { statement } from './statement.ts'

/** An item of a list, of which is known what it takes before it is read. */
export interface Sized {
	id: string
	bytes: number
}

type Direction = 'asc' | 'desc'

/**
 * A page of a list in each order that it may have: a column, and which way. `rows` selects `id` and
 * `bytes` by $1 to $3. $4 limit, $5 offset
 */
export function sortedList<Sort extends string>(
	name: string,
	rows: string,
	id: string,
	columns: Record<Sort, string>,
) {
	const listing = (sort: Sort, dir: Direction) =>
		statement<Sized>(
			`${name}-${sort}-${dir}`,
			`${rows} order by ${columns[sort]} ${dir}, ${id} ${dir} limit $4 offset $5`,
		)
	const sorts = Object.keys(columns) as Sort[]
	return Object.fromEntries(
		sorts.map((sort) => [sort, { asc: listing(sort, 'asc'), desc: listing(sort, 'desc') }]),
	) as Record<Sort, Record<Direction, ReturnType<typeof listing>>>
}
