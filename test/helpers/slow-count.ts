import type { Pool } from 'pg'

/** Contacts, and a condition that takes longer than five seconds to count them. It finds the newest at once. */
export async function fillForSlowCount(pool: Pool) {
	// The text of these contacts is large and compressed, and each filter decompresses it again.
	await pool.query(
		`insert into contacts (project_id, email, subscribed, data, created_at)
		select id, 's' || i || '@example.com', true,
			case when i < 2000 then jsonb_build_object('text', repeat('abcdefgh', 7500)) else '{"text": "x"}' end,
			timestamptz '2026-01-01' + i * interval '1 second'
		from projects, generate_series(0, 5999) i`,
	)
	const filter = { field: 'data.text', operator: 'notContains', value: 'zzz' }
	return { logic: 'AND', groups: [{ filters: Array.from({ length: 100 }, () => filter) }] }
}
