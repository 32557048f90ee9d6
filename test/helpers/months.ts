import type { Pool } from 'pg'
import { addPartitions } from '../../db/partitions.ts'
import { transaction } from '../../db/transaction.ts'

export const tablesOfMonths = ['emails', 'attempts', 'events'] as const

/** As in an installation of last year: months ago have tables of their own. The tables must be empty. */
export async function splitIntoMonths(pool: Pool, ...monthsAgo: number[]) {
	for (const table of tablesOfMonths) {
		for (const name of await partitionsOf(pool, table)) await pool.query(`drop table ${name}`)
		for (const months of monthsAgo)
			await pool.query(`do $$
				declare
					starts timestamp := date_trunc('month', now() at time zone 'UTC') - interval '${months} months';
					next timestamp := starts + interval '1 month';
				begin
					execute format('create table %I partition of ${table} for values from (%L) to (%L)',
						'${table}_' || to_char(starts, 'YYYY_MM'),
						first_id_at(starts at time zone 'UTC'), first_id_at(next at time zone 'UTC'));
				end $$`)
	}
	await addPartitions(pool)
}

/** Moves everything that has happened so far back by some months, with new ids. */
export const happenedBefore = (pool: Pool, months: number) =>
	transaction(pool, async (db) => {
		const earlier = `uuidv7(uuid_extract_timestamp(id) - interval '${months} months' - now())`
		await db.query(`create temp table moved on commit drop as
			select id, ${earlier} as new_id from emails union all select id, ${earlier} from events`)
		const moved = (column: string) => `(select new_id from moved where moved.id = ${column})`
		await db.query(`update attempts set email_id = ${moved('attempts.email_id')}`)
		await db.query(`update events set id = ${moved('events.id')}, email_id = ${moved('events.email_id')},
			created_at = created_at - interval '${months} months'`)
		await db.query(`update emails set id = ${moved('emails.id')}`)
	})

export const partitionsOf = async (pool: Pool, table: string) =>
	(
		await pool.query<{ name: string }>(
			`select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1`,
			[table],
		)
	).rows.map(({ name }) => name)
