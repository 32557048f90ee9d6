import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'

/** Until so many connections to this database wait for somebody's lock. */
export async function lockWaits(t: ExecutionContext, pool: Pool, count: number) {
	for (let tries = 0; tries < 500; tries++) {
		const { rowCount } = await pool.query(
			`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
		)
		if (rowCount! >= count) return
		await sleep(20)
	}
	t.fail(`fewer than ${count} wait for a lock`)
}
