import type { Pool } from 'pg'
import { isOpen } from '../db/emails/ledger.ts'
import { until } from './load.ts'

/** Everything that proceeds by itself until it is done. */
const open = {
	'mails in the ledger': `emails e where ${isOpen}`,
	'sends in the queue': 'queued_sends',
	executions: `executions where status in ('RUNNING', 'WAITING')`,
	jobs: `jobs where state in ('waiting', 'active')`,
	campaigns: `campaigns where status = 'SENDING'`,
	'opens and clicks': 'engagements',
	'things to tell Temporal': 'outbox where done_at is null',
}

// One statement sees one moment. With separate queries, an execution could write an open mail after the
// query for mails.
const countOpen = Object.entries(open)
	.map(([what, rows]) => `select '${what}' as what, count(*)::int as n from ${rows}`)
	.join(' union all ')

/**
 * Waits until nothing proceeds any more, and returns what still does at the time-out. A provider is read
 * after the ledger, and the ledger after this.
 */
export async function atRest(db: Pick<Pool, 'query'>, timeoutMs: number): Promise<string[]> {
	let left: string[] = []
	const isAtRest = async () => {
		const { rows } = await db.query<{ what: string; n: number }>(countOpen)
		left = rows.filter(({ n }) => n > 0).map(({ what, n }) => `${n} ${what}`)
		return left.length === 0
	}
	await until(isAtRest, timeoutMs, 100)
	return left
}
