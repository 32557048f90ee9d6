import { type EntityManager, Kysely } from '@mikro-orm/postgresql'
import { PostgresDialect } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { poolOf } from './statement.ts'

/** Commits all of the work, or nothing of it. `setting`: a setting for this transaction only. */
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
		// If a rollback fails, the connection is closed, and Postgres rolls back.
		await db.query('rollback').then(
			() => db.release(),
			(fault: Error) => db.release(fault),
		)
		throw error
	}
}

/** The same for entities and statements together: both belong to one transaction. Flush before a statement. */
export const transactional = async <T>(
	em: EntityManager,
	work: (em: EntityManager, db: PoolClient) => Promise<T>,
	setting = '',
) => transaction(await poolOf(em), (db) => work(within(em, db), db), setting)

function within(em: EntityManager, db: PoolClient) {
	const client = { query: db.query.bind(db), release() {} } as unknown as PoolClient
	const pool = { connect: async () => client, end: async () => {}, options: {} }
	const inner = em.fork() as EntityManager
	inner.setTransactionContext(new Kysely({ dialect: new PostgresDialect({ pool }) }))
	return inner
}

/** Whether a lock was not free within the time limit for locks. */
export const isLocked = (error: unknown) => (error as { code?: string }).code === lockTimeout

/** Less than the second after which Postgres looks for deadlocks: no caller of the API falls victim. */
const lockTimeoutMs = 400
const lockTimeout = '55P03'
const contended = new Set([lockTimeout, '40P01', '40001'])
const triesAtOnce = 20

/** Whether others were at the same rows: a lock was not free in time, or a deadlock or conflict was resolved. */
export const isContended = (error: unknown) =>
	contended.has((error as { code?: string }).code ?? '')

/**
 * Runs a chunk of work in a transaction that gives way to the API's and is retried. Conflicts with transactions
 * that lock contacts in another order, or create the same contacts, last only a moment.
 */
export async function inChunk<T>(pool: Pool, work: (db: PoolClient) => Promise<T>): Promise<T> {
	for (let tries = 1; ; tries++)
		try {
			return await transaction(pool, work, `set local lock_timeout = ${lockTimeoutMs}`)
		} catch (error) {
			if (!isContended(error) || tries === triesAtOnce) throw error
			await sleep(50 + Math.random() * 200)
		}
}
