import type { Pool } from 'pg'
import { bool } from './sql-types.ts'
import { statement } from './statement.ts'

/**
 * Vacuums a table and its indexes after deletions. Only one vacuum runs in the whole database, because
 * each reads its whole table; concurrent callers skip it until their next page. Without the permission
 * Postgres only warns. Returns whether it was done.
 */
export async function vacuum(pool: Pool, table: string) {
	// The connection holds the lock, and releases it at its end.
	const db = await pool.connect()
	try {
		const [turn] = await takeTurn(db)
		if (!turn!.isOurs) return false
		try {
			await db.query(`vacuum (index_cleanup on, truncate off) ${table}`)
		} finally {
			await leaveTurn(db)
		}
		return true
	} finally {
		db.release()
	}
}

const turnOf = `hashtextextended('vacuum after removals', 0)`
const takeTurn = statement('take-vacuum-turn', {
	params: {},
	row: { isOurs: bool },
	text: `select pg_try_advisory_lock(${turnOf}) as "isOurs"`,
})
const leaveTurn = statement('leave-vacuum-turn', {
	params: {},
	text: `select pg_advisory_unlock(${turnOf})`,
})
