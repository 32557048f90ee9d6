import { bigint, type Columns, int, type RowOf, uuid } from './sql-types.ts'
import { statement } from './statement.ts'

/** An item of a list with its size, known before the item is read. */
export const sizedColumns = { id: uuid, bytes: int }
export type Sized = RowOf<typeof sizedColumns>

type Direction = 'asc' | 'desc'

/**
 * A page of a list, in each allowed order: a column and a direction. `rows` selects `id` and `bytes` by
 * the given parameters.
 */
export function sortedList<Sort extends string, P extends Columns>(
	name: string,
	list: { params: P; rows: string; id: string; columns: Record<Sort, string> },
) {
	const { rows, id, columns } = list
	const params = { ...list.params, limit: bigint, offset: bigint }
	const listing = (sort: Sort, dir: Direction) =>
		statement(`${name}-${sort}-${dir}`, {
			params,
			row: sizedColumns,
			text: `${rows} order by ${columns[sort]} ${dir}, ${id} ${dir} limit $limit offset $offset`,
		})
	const sorts = Object.keys(columns) as Sort[]
	return Object.fromEntries(
		sorts.map((sort) => [sort, { asc: listing(sort, 'asc'), desc: listing(sort, 'desc') }]),
	) as Record<Sort, Record<Direction, ReturnType<typeof listing>>>
}
