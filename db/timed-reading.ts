import type { Pool, PoolClient } from 'pg'
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

const mostAtOnce = 3
const waiting: (() => void)[] = []
let running = 0

/** The same for queries over all contacts or mails: a few at once, which leaves connections to other requests. */
export async function scanWithin<T>(
	pool: Pool,
	mostMs: number,
	read: (db: PoolClient) => Promise<T>,
): Promise<T | null> {
	if (running >= mostAtOnce) await new Promise<void>((go) => waiting.push(go))
	else running += 1
	try {
		return await readWithin(pool, mostMs, read)
	} finally {
		const next = waiting.shift()
		if (next) next()
		else running -= 1
	}
}
