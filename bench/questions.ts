import { performance } from 'node:perf_hooks'
import { poolOf } from '../db/statement.ts'
import { type client, percentile } from './load.ts'
import type { Stack } from './stack.ts'
import type { Row } from './table.ts'

export const times = 200

export interface Question {
	what: string
	mostMs: number
	path: (i: number) => string
	times?: number
	/** The same query on Postgres, in the barest form. */
	floor: [string, ...unknown[]]
}

/** Makes each request many times, one after the other, with the bare query in between. */
export async function ask(
	stack: Stack,
	http: ReturnType<typeof client>,
	questions: Question[],
): Promise<Row[]> {
	const pool = await poolOf(stack.orm.em)
	const rows: Row[] = []
	for (const { what, mostMs, path, floor, ...question } of questions) {
		const took: number[] = []
		const bareMs: number[] = []
		const [text, ...values] = floor
		let failures = 0
		for (let i = 0; i < (question.times ?? times); i++) {
			const { status, ms } = await http.get(path(i))
			if (status !== 200) failures++
			took.push(ms)
			if (i % 5 > 0) continue
			const startedAt = performance.now()
			await pool.query(text, [stack.projectId, ...values])
			bareMs.push(performance.now() - startedAt)
		}
		const [p50, p99] = [percentile(took, 0.5), percentile(took, 0.99)]
		rows.push({
			what,
			reached: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${failures ? `, ${failures} failed` : ''}`,
			target: `p99 <= ${mostMs} ms`,
			floor: `p50 ${percentile(bareMs, 0.5).toFixed(1)} ms (bare SELECT)`,
			isMet: p99 <= mostMs && failures === 0,
		})
	}
	return rows
}
