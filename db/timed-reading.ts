import type { Pool, PoolClient } from 'pg'
import { createScanTurns } from './scan-turns.ts'
import { transaction } from './transaction.ts'

/** Postgres ended a statement that reached its time limit. */
const tookTooLong = '57014'

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
		if ((error as { code?: string }).code !== tookTooLong) throw error
		return null
	}
}

/**
 * For queries over all contacts or mails, before they take a connection: a few at once, which leaves connections to
 * other requests. Throws `ScansBusy` instead of waiting long.
 */
export const inScanTurn = createScanTurns({
	atOnce: 3,
	ofProject: 2,
	waiting: 50,
	patienceMs: 5000,
})

/** Both: reads in turn, with a limit on the time of each statement. */
export const scanWithin = <T>(
	pool: Pool,
	projectId: string,
	mostMs: number,
	read: (db: PoolClient) => Promise<T>,
): Promise<T | null> => inScanTurn(projectId, () => readWithin(pool, mostMs, read))
