import type { Pool } from 'pg'

const tickMs = 100
/** What a statement may wait for a connection and the processor; a request waits for some of them. */
const patienceMs = 100
/** So many are never too many: some connections' worth each. */
const fewest = 50
const growth = 20

export interface Congestion {
	/** How many requests may be under way now. */
	limit(): number
	stop(): void
}

/**
 * How many requests can be under way without each waiting long for the database: found out by asking it
 * as they do. While the answer comes late, fewer are let in; while it comes in time, more are. A burst
 * is taken whole; it is those behind it who are refused if it does not get done.
 */
export function watchCongestion(pool: Pool, underWay: () => number, most: number): Congestion {
	let limit = most
	let question: { askedAt: number; waitedMs: number | null } | null = null

	async function ask() {
		const asked = (question = { askedAt: performance.now(), waitedMs: null as number | null })
		// A database that is away refuses by itself, and at once.
		await pool.query('select 1').catch(() => {})
		asked.waitedMs = performance.now() - asked.askedAt
	}

	function look() {
		const waitedMs = question && (question.waitedMs ?? performance.now() - question.askedAt)
		const isCrowded = underWay() >= fewest
		if (waitedMs === null || waitedMs <= patienceMs) limit = Math.min(most, limit + growth)
		else if (isCrowded) limit = Math.max(Math.min(fewest, most), Math.floor(limit * 0.8))
		if (question && question.waitedMs === null) return
		question = null
		if (isCrowded) void ask()
	}

	const timer = setInterval(look, tickMs).unref()
	return { limit: () => limit, stop: () => clearInterval(timer) }
}
