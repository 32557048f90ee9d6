import type { ExecutionContext } from 'ava'
import { reputation } from '../../db/reputation/reputation.ts'
import { setupReports } from './reports.ts'

/** A project with members and a history, for which one more bounce or complaint causes a suspension. */
export async function setupReputation(t: ExecutionContext) {
	const all = await setupReports(t)
	const { pool, project, execute, handedOver, report, bounced } = all
	await execute(`insert into users (email) values ('owner@example.com'), ('member@example.com')`)
	await execute(
		`insert into memberships (project_id, user_id, role) select ?, id, 'ADMIN' from users`,
		[project.id],
	)
	return {
		...all,
		/** Counts of an hour in the past. */
		past: (ago: string, total: number, bounces: number, complaints: number) =>
			pool.query(
				`insert into reputation_counts values ($1, date_trunc('hour', now() - $2::interval, 'UTC'), $3, $4, $5)`,
				[project.id, ago, total, bounces, complaints],
			),
		age: (days: number) =>
			pool.query(`update projects set created_at = now() - make_interval(days => $1)`, [days]),
		/** The decisive bounce, of a mail that was counted when it was sent. */
		bounce: async () => bounced(await handedOver()),
		complain: async () => report('complained', await handedOver()),
		disabled: async () =>
			(
				await execute<{ disabled_reason: string | null }>(
					'select disabled_reason from projects where id = ?',
					[project.id],
				)
			)[0]!.disabled_reason,
		reputation: () => reputation(pool, project.id),
	}
}
