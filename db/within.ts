import { timestamp } from './sql-types.ts'
import { sql, type Sql } from './sql.ts'

export interface Period {
	from?: Date | undefined
	to?: Date | undefined
}

/** Columns with the id of a row and the time that callers see. */
interface Timed {
	id: Sql
	time: Sql
}

/**
 * Rows of a period, both ends included. An index on ids finds them, see `first_id_around` in
 * db/events/sent-mails.sql. As subqueries the bounds are evaluated once, also where counting reads all rows.
 */
export function within({ from, to }: Period, { id, time }: Timed): Sql[] {
	const where: Sql[] = []
	if (from) {
		const first = timestamp.value(from)
		where.push(sql`${id} >= (select first_id_around(${first}))`, sql`${time} >= ${first}`)
	}
	if (to) {
		const last = timestamp.value(to)
		where.push(sql`${id} < (select last_id_around(${last}))`, sql`${time} <= ${last}`)
	}
	return where
}
