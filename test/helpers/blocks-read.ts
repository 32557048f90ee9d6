import type { Pool, PoolClient } from 'pg'
import { statements } from '../../db/statement.ts'

/** How many blocks Postgres reads to run a query. */
export async function blocksRead(db: Pool | PoolClient, text: string, values: unknown[]) {
	const { rows } = await db.query({
		text: `explain (analyze, buffers, format json) ${text}`,
		values,
	})
	const { Plan: plan } = rows[0]['QUERY PLAN'][0]
	return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

export const blocksReadBy = (db: Pool | PoolClient, name: string, values: readonly unknown[]) =>
	blocksRead(db, statements.get(name)!.text, [...values])
