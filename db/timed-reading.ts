import type { Pool, PoolClient } from 'pg'
import { createFairTurns } from './fair-turns.ts'
import { transaction } from './transaction.ts'

/** Whether Postgres ended a statement because it reached its time limit. */
export const isTooSlow = (error: unknown) => (error as { code?: string }).code === '57014'

/**
 * Reads with a limit on the time of each statement; null if one reaches it. For queries whose cost their
 * caller decides. Compiling them takes longer than it saves.
 */
export async function readWithin<T>(
	pool: Pool,
	mostMs: number,
	read: (db: PoolClient) => Promise<T>,
): Promise<T | null> {
	try {
		return await transaction(
			pool,
			read,
			`set transaction read only; set local jit = off; set local statement_timeout = ${mostMs}`,
		)
	} catch (error) {
		if (!isTooSlow(error)) throw error
		return null
	}
}

/**
 * For queries over all contacts or mails, before they take a connection: a few at once, which leaves connections to
 * other requests. Throws `TurnsBusy` instead of waiting long.
 */
const inTurn = createFairTurns({
	atOnce: 3,
	ofOne: 2,
	waiting: 50,
	patienceMs: 5000,
})

const changeLimit = 'set local jit = off; set local statement_timeout = 30000'

/**
 * Work that counts contacts and changes something as well. It gets the setting for its transaction with which no
 * statement takes longer, so that its turn and its locks are soon free for others, whatever its caller wants
 * counted.
 */
export const countInTurn = <T>(
	projectId: string,
	work: (limit: string) => Promise<T>,
	counts = true,
): Promise<T> => (counts ? inTurn(projectId, () => work(changeLimit)) : work(changeLimit))

/**
 * For reads that are quick in nearly every project: those that are not take a turn and begin again.
 */
export const readOrScan = async <T>(
	pool: Pool,
	projectId: string,
	mostMs: number,
	read: (db: PoolClient) => Promise<T>,
	quickMs = 200,
): Promise<T | null> =>
	(await readWithin(pool, quickMs, read)) ?? scanWithin(pool, projectId, mostMs, read)

/** Reads in turn, with a limit on the time of each statement. */
export const scanWithin = <T>(
	pool: Pool,
	projectId: string,
	mostMs: number,
	read: (db: PoolClient) => Promise<T>,
): Promise<T | null> => inTurn(projectId, () => readWithin(pool, mostMs, read))
