import type { Pool } from 'pg'

/** How many mails of all projects were used and sent. Any statement may fold the tallies into the counts. */
export async function usageSums(pool: Pool) {
	const { rows } = await pool.query<{ used: number; sent: number }>(
		`select coalesce(sum(used), 0)::int as used, coalesce(sum(sent), 0)::int as sent from (
			select used, sent from usage_tallies union all select used, sent from usage_counts) both_kinds`,
	)
	return rows[0]!
}
