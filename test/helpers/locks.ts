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

/** Waits until no connection has a turn (db/turn.ts): one whose work failed has it until Postgres ended it. */
export async function turnsEnded(t: ExecutionContext, pool: Pool) {
	for (let tries = 0; tries < 500; tries++) {
		const { rowCount } = await pool.query(
			`select from pg_locks where locktype = 'advisory'
				and database = (select oid from pg_database where datname = current_database())`,
		)
		if (!rowCount) return
		await sleep(20)
	}
	t.fail('a connection still has a turn')
}

/** Stops everyone who uses the table, such as a send between its read and its write, until it is released. */
export async function hold(pool: Pool, table: 'templates' | 'queued_sends' | 'usage_notices') {
	const client = await pool.connect()
	await client.query(`begin; lock table ${table} in access exclusive mode`)
	return {
		/** Waits until this many others wait for the lock. */
		async waiting(count: number) {
			for (;;) {
				const { rows } = await client.query(
					`select count(*)::int as waiting from pg_locks
					where not granted and database = (select oid from pg_database where datname = current_database())`,
				)
				if (rows[0].waiting >= count) return
			}
		},
		query: (sql: string) => client.query(sql),
		async letGo() {
			await client.query('commit')
			client.release()
		},
	}
}
