import { performance } from 'node:perf_hooks'
import { poolOf } from '../../db/statement.ts'
import type { Stack } from '../stack.ts'
import type { Row } from '../table.ts'

const atOnce = 20_000

/**
 * The contacts contact-1@example.org and so on, for a range of numbers, created over the last year. Each
 * has 30 fields: `plan`, `score` and `joined` for conditions, a unique `externalId`, and others with some
 * dozens of values. One in ten is not subscribed.
 */
export async function seedContacts({ orm, projectId }: Stack, from: number, to: number) {
	if (from > to) return []
	const pool = await poolOf(orm.em)
	const startedAt = performance.now()
	for (let first = from; first <= to; first += atOnce)
		await pool.query(
			`insert into contacts (project_id, email, subscribed, data, created_at, updated_at)
			select $1, 'contact-' || i || '@example.org', i % 10 > 0,
				jsonb_build_object(
					'plan', (array['free', 'pro', 'team', 'scale'])[(1 + i % 4)::int], 'score', i * 7919 % 1000,
					'externalId', 'id-' || i * 7919 % 1000003, 'isActive', i % 2 = 0,
					'joined', to_char(timestamp '2020-01-01' + i % 2000 * interval '1 day', 'YYYY-MM-DD'))
				|| (select jsonb_object_agg('field' || n, 'value ' || i * n % (20 + n))
					from generate_series(6, 30) n),
				created, created
			from generate_series($2::bigint, $3::bigint) i,
				lateral (select now() - i * 104729 % 525600 * interval '1 minute' as created) c`,
			[projectId, first, Math.min(first + atOnce - 1, to)],
		)
	const seconds = (performance.now() - startedAt) / 1000
	// Does at once what autovacuum would do in time.
	for (const table of [
		'contacts',
		'contact_field_changes',
		'contact_field_values',
		'contact_fields',
	])
		await pool.query(`vacuum analyze ${table}`)
	const rate = (to - from + 1) / seconds
	return [
		{
			what: 'contacts of 30 fields inserted by SQL, with all that hangs on them',
			reached: `${rate.toFixed(0)} rows/s`,
			target: '',
			floor: '',
			isMet: true,
		},
	] satisfies Row[]
}
