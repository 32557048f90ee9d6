import type { Pool, PoolClient } from 'pg'
import { createFairTurns } from './fair-turns.ts'
import { transaction } from './transaction.ts'

/** Whether Postgres ended a statement because it reached its time limit. */
export const isTooSlow = (error: unknown) => (error as { code?: string }).code === '57014'

const limitTo = (ms: number) => `set local jit = off; set local statement_timeout = ${ms}`

/** Compiling the queries takes longer than it saves. */
const read = <T>(pool: Pool, mostMs: number, work: (db: PoolClient) => Promise<T>) =>
	transaction(pool, work, `set transaction read only; ${limitTo(mostMs)}`)

function nullIfTooSlow(error: unknown) {
	if (!isTooSlow(error)) throw error
	return null
}

/**
 * Reads with a limit on the time of each statement; null if one reaches it. For queries whose cost their
 * caller decides.
 */
export const readWithin = <T>(
	pool: Pool,
	mostMs: number,
	work: (db: PoolClient) => Promise<T>,
): Promise<T | null> => read(pool, mostMs, work).catch(nullIfTooSlow)

const inQuickTurn = createFairTurns({ atOnce: 3, ofOne: 2, waiting: 50, patienceMs: 5000 })
const inLongTurn = createFairTurns({ atOnce: 4, ofOne: 2, waiting: 10, patienceMs: 30_000 })
const quickMs = 1000

/**
 * Queries over all contacts or mails, before they take a connection: a few at once, which leaves connections to
 * other requests. Throws `TurnsBusy` instead of waiting long. A statement that takes longer than `quickMs` ends, and
 * its work begins again in a long turn. So a project whose conditions are slow doesn't take the turns of others.
 */
async function inTurn<T>(
	projectId: string,
	mostMs: number,
	work: (mostMs: number) => Promise<T>,
): Promise<T> {
	try {
		return await inQuickTurn(projectId, () => work(Math.min(mostMs, quickMs)))
	} catch (error) {
		if (!isTooSlow(error) || mostMs <= quickMs) throw error
		return inLongTurn(projectId, () => work(mostMs))
	}
}

const changeMs = 30_000

/**
 * Work that counts contacts and changes something as well. It may run twice, and gets the setting for its transaction
 * with which no statement takes longer, so that its turn and its locks are soon free for others, whatever its caller
 * wants counted.
 */
export const countInTurn = <T>(
	projectId: string,
	work: (limit: string) => Promise<T>,
	counts = true,
): Promise<T> =>
	counts ? inTurn(projectId, changeMs, (mostMs) => work(limitTo(mostMs))) : work(limitTo(changeMs))

/**
 * For reads that are quick in nearly every project: those that are not take a turn and begin again.
 */
export const readOrScan = async <T>(
	pool: Pool,
	projectId: string,
	mostMs: number,
	work: (db: PoolClient) => Promise<T>,
	mostMsWithoutTurn = 200,
): Promise<T | null> =>
	(await readWithin(pool, mostMsWithoutTurn, work)) ?? scanWithin(pool, projectId, mostMs, work)

/** Reads in turn, with a limit on the time of each statement. */
export const scanWithin = <T>(
	pool: Pool,
	projectId: string,
	mostMs: number,
	work: (db: PoolClient) => Promise<T>,
): Promise<T | null> => inTurn(projectId, mostMs, (ms) => read(pool, ms, work)).catch(nullIfTooSlow)
