import { Pool } from 'pg'
import { connecting } from './connecting.ts'

export type Database = ReturnType<typeof databaseOf>

/** The settings for connecting to a pool's database, for a thread: threads can't share a pool. */
export function databaseOf({ options }: Pool) {
	const { connectionString, host, port, user, password, database, ssl } = options
	return { connectionString, host, port, user, password, database, ssl }
}

/** Runs work on a thread with a connection of its own, which ends with the work. */
export async function withDatabase<T>(
	database: Database,
	work: (pool: Pool) => Promise<T>,
	limits: { query_timeout?: number } = {},
) {
	const pool = new Pool({
		...database,
		...connecting(),
		...limits,
		max: 1,
		connectionTimeoutMillis: 5000,
	})
	// An idle connection that breaks is noticed at the next query.
	pool.on('error', () => {})
	try {
		return await work(pool)
	} finally {
		await pool.end()
	}
}
