import { setInterval as ticks } from 'node:timers/promises'
import type { Pool } from 'pg'
import { statement } from './statement.ts'

const lookMs = 2000
/** Whatever is planned for fewer pages does little harm. */
const fewPages = 20
const fewRows = 2000

/**
 * Tables that have at least doubled since Postgres last looked what is in them. A plan made for the
 * table as it was is kept by every connection until statistics are made anew: that of a foreign key,
 * made for a table of one row, reads a table of 20,000 through for every row that refers to it. Pages
 * grow before rows are committed, and a look in between finds the pages without their rows.
 */
const grownTables = statement<{ name: string }>(
	'grown-tables',
	`select quote_ident(relname) as name from pg_class
	where relnamespace = 'public'::regnamespace and relkind = 'r' and has_table_privilege(oid, 'MAINTAIN')
		and (pg_relation_size(oid) / current_setting('block_size')::int > ${fewPages} + 2 * relpages
			or pg_stat_get_mod_since_analyze(oid) > ${fewRows} + greatest(reltuples, 0))`,
)

/**
 * Makes statistics of tables that have just grown, by a sample: autovacuum comes up to a minute later.
 * Where another process is at a table, that one is left to it.
 */
export async function analyzeGrown(pool: Pool) {
	for (const { name } of await grownTables(pool, []))
		await pool.query(`analyze (skip_locked) ${name}`)
}

/** Looks every few seconds until stopped; the database may be away in between. */
export function startAnalyzing(pool: Pool) {
	const stopped = new AbortController()
	const looking = (async () => {
		for await (const _ of ticks(lookMs, undefined, { signal: stopped.signal }))
			await analyzeGrown(pool).catch(() => {})
	})().catch(() => {})
	return async () => {
		stopped.abort()
		await looking
	}
}
