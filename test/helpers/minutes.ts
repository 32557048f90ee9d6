import type { Pool } from 'pg'

/** The windows of the rate limit are the database's minutes. A window in the future doesn't end during a test. */
export const beginNextMinute = (pool: Pool, projectId: string, spender = 'secret') =>
	pool.query(
		`insert into request_budgets (project_id, spender, window_start, leased)
		values ($1, $2, date_trunc('minute', now()) + interval '1 minute', 0)`,
		[projectId, spender],
	)
