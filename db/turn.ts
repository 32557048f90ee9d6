import type { Pool, PoolClient } from 'pg'
import { bool, text } from './sql-types.ts'
import { statement } from './statement.ts'

/** Whether it is this connection's turn at some work: no other connection has it until this one leaves or ends. */
export const takeTurn = statement('take-turn', {
	params: { work: text },
	row: { isOurs: bool },
	text: `select pg_try_advisory_lock(hashtextextended($work, 0)) as "isOurs"`,
})

const leaveTurn = statement('leave-turn', {
	params: { work: text },
	text: `select pg_advisory_unlock(hashtextextended($work, 0))`,
})

/** Does work that only one process does at a time. Returns undefined if another one is at it. */
export async function inTurn<T>(
	pool: Pool,
	name: string,
	work: (db: PoolClient) => Promise<T>,
): Promise<T | undefined> {
	const db = await pool.connect()
	// If anything fails, the lock ends with the connection.
	let hasFailed = true
	try {
		const [turn] = await takeTurn(db, { work: name })
		const result = turn!.isOurs ? await work(db) : undefined
		if (turn!.isOurs) await leaveTurn(db, { work: name })
		hasFailed = false
		return result
	} finally {
		db.release(hasFailed)
	}
}
