import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'

/**
 * Waits until this many connections to the database wait for a lock: any lock, or one held by the process
 * `pid`.
 */
export async function lockWaits(t: ExecutionContext, pool: Pool, count: number, pid?: number) {
	for (let tries = 0; tries < 500; tries++) {
		const { rowCount } = await pool.query(
			`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
				and ($1::int is null or $1 = any(pg_blocking_pids(pid)))`,
			[pid ?? null],
		)
		if (rowCount! >= count) return
		await sleep(20)
	}
	t.fail(`fewer than ${count} wait for a lock`)
}
