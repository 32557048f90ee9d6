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
 * Queries over all contacts or mails, before they take a connection: a few at once, which leaves connections to
 * other requests. Throws `TurnsBusy` instead of waiting long. A statement that takes longer than `quickMs` ends, and
 * its work begins again in a long turn. So a project whose conditions are slow doesn't take the turns of others.
 */
const inQuickTurn = createFairTurns({ atOnce: 3, ofOne: 2, waiting: 50, patienceMs: 5000 })
const inLongTurn = createFairTurns({ atOnce: 4, ofOne: 2, waiting: 10, patienceMs: 30_000 })
const quickMs = 1000

const changeMs = 30_000
const limitTo = (ms: number) => `set local jit = off; set local statement_timeout = ${ms}`

/**
 * Work that counts contacts and changes something as well. It may run twice, and gets the setting for its transaction
 * with which no statement takes longer, so that its turn and its locks are soon free for others, whatever its caller
 * wants counted.
 */
export async function countInTurn<T>(
	projectId: string,
	work: (limit: string) => Promise<T>,
	counts = true,
): Promise<T> {
	if (!counts) return work(limitTo(changeMs))
	try {
		return await inQuickTurn(projectId, () => work(limitTo(quickMs)))
	} catch (error) {
		if (!isTooSlow(error)) throw error
		return inLongTurn(projectId, () => work(limitTo(changeMs)))
	}
}

/**
 * For reads that are quick in nearly every project: those that are not take a turn and begin again.
 */
export const readOrScan = async <T>(
	pool: Pool,
	projectId: string,
	mostMs: number,
	read: (db: PoolClient) => Promise<T>,
	mostMsWithoutTurn = 200,
): Promise<T | null> =>
	(await readWithin(pool, mostMsWithoutTurn, read)) ?? scanWithin(pool, projectId, mostMs, read)

/** Reads in turn, with a limit on the time of each statement. */
export async function scanWithin<T>(
	pool: Pool,
	projectId: string,
	mostMs: number,
	read: (db: PoolClient) => Promise<T>,
): Promise<T | null> {
	const within = (ms: number) => readWithin(pool, ms, read)
	const found = await inQuickTurn(projectId, () => within(Math.min(mostMs, quickMs)))
	if (found !== null || mostMs <= quickMs) return found
	return inLongTurn(projectId, () => within(mostMs))
}
