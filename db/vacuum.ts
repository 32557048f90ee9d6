import type { Pool } from 'pg'
import { statement } from './statement.ts'

/**
 * Clears a table and its indexes of what was deleted: one at a time in the whole database, for each
 * reads its table through; who comes meanwhile leaves it to the next page. Who may not is warned, and
 * nothing happens. Whether it was done.
 */
export async function vacuum(pool: Pool, table: string) {
	// The lock is the connection's, and goes with it.
	const db = await pool.connect()
	try {
		const [turn] = await takeTurn(db, [])
		if (!turn!.isOurs) return false
		try {
			await db.query(`vacuum (index_cleanup on, truncate off) ${table}`)
		} finally {
			await leaveTurn(db, [])
		}
		return true
	} finally {
		db.release()
	}
}

const turnOf = `hashtextextended('vacuum after removals', 0)`
const takeTurn = statement<{ isOurs: boolean }>(
	'take-vacuum-turn',
	`select pg_try_advisory_lock(${turnOf}) as "isOurs"`,
)
const leaveTurn = statement('leave-vacuum-turn', `select pg_advisory_unlock(${turnOf})`)
