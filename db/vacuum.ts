import type { Pool } from 'pg'
import { inTurn } from './turn.ts'

/**
 * Vacuums a table and its indexes after deletions. Only one vacuum runs in the whole database, because
 * each reads its whole table; concurrent callers skip it until their next page. Without the permission
 * Postgres only warns. Returns whether it was done.
 */
export const vacuum = async (pool: Pool, table: string) =>
	(await inTurn(pool, 'vacuum after removals', (db) =>
		db.query(`vacuum (index_cleanup on, truncate off) ${table}`),
	)) !== undefined
