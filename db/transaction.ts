import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'

/** Commits what the work has done, or nothing of it. `setting`: what holds within it alone. */
export async function transaction<T>(
	pool: Pool,
	work: (db: PoolClient) => Promise<T>,
	setting = '',
) {
	const db = await pool.connect()
	try {
		await db.query(`begin; ${setting}`)
		const result = await work(db)
		await db.query('commit')
		db.release()
		return result
	} catch (error) {
		// Who cannot be rolled back is hung up on, and Postgres rolls back.
		await db.query('rollback').then(
			() => db.release(),
			(fault: Error) => db.release(fault),
		)
		throw error
	}
}

/** Less than the second after which Postgres looks for deadlocks: no caller of the API falls victim. */
const lockTimeoutMs = 400
const contended = new Set(['55P03', '40P01', '40001'])
const triesAtOnce = 20

/**
 * A chunk of work on contacts, in a transaction that gives way to the API's and comes again. Whoever
 * writes contacts in another order than we do, or creates the same ones, is only in our way for a moment.
 */
export async function inChunk<T>(pool: Pool, work: (db: PoolClient) => Promise<T>): Promise<T> {
	for (let tries = 1; ; tries++)
		try {
			return await transaction(pool, work, `set local lock_timeout = ${lockTimeoutMs}`)
		} catch (error) {
			if (!contended.has((error as { code?: string }).code ?? '') || tries === triesAtOnce)
				throw error
			await sleep(50 + Math.random() * 200)
		}
}
