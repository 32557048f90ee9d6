import type { Pool } from 'pg'

const tickMs = 100
/**
 * How long a statement may wait for a connection and the processor. A request waits for several
 * statements.
 */
const patienceMs = 100
/** This many requests are always allowed: a few per connection. */
const fewest = 50
const growth = 20

export interface Congestion {
	/** How many requests may be under way now. */
	limit(): number
	stop(): void
}

/**
 * How many requests can be under way without long waits for the database, measured by regular queries. The
 * limit falls while answers are late, and rises while they are on time. A burst is accepted in full; if it
 * is not processed in time, the requests after it are refused.
 */
export function watchCongestion(pool: Pool, underWay: () => number, most: number): Congestion {
	let limit = most
	let question: { askedAt: number; waitedMs: number | null } | null = null

	async function ask() {
		const asked = (question = { askedAt: performance.now(), waitedMs: null as number | null })
		// An unavailable database refuses requests itself, at once.
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
