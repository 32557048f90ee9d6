import type { Pool } from 'pg'

/** A contact, and 30 newer ones whose addresses contain that of the first. */
export async function addContactsAlike(pool: Pool, projectId: string, email: string) {
	await pool.query(
		`insert into contacts (project_id, email, subscribed, created_at)
		select $1, case when n > 0 then 'jo' || n else '' end || $2, true, now() + n * interval '1 second'
		from generate_series(0, 30) n`,
		[projectId, email],
	)
}
