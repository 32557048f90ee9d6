import { setInterval as ticks } from 'node:timers/promises'
import type { Pool } from 'pg'
import { text } from './sql-types.ts'
import { statement } from './statement.ts'

const lookMs = 2000
/**
 * A sample of 6,000 rows tells the planner enough at first. The thorough statistics of autovacuum, from 30,000 rows,
 * follow while a table grows on.
 */
const quickTarget = 20
/** A bad plan for fewer pages does little harm. */
const fewPages = 20
const fewRows = 2000

/**
 * Tables that have at least doubled since their last statistics. Every connection keeps its plans until
 * there are new statistics. For example, a foreign key's plan that was made for a table of one row scans a
 * table of 20,000 for every referring row. Pages grow before rows are committed, so a look in between
 * finds pages without rows.
 */
const grownTables = statement('grown-tables', {
	params: {},
	row: { name: text },
	text: `select quote_ident(relname) as name from pg_class
	where relnamespace = 'public'::regnamespace and relkind = 'r' and has_table_privilege(oid, 'MAINTAIN')
		and (pg_relation_size(oid) / current_setting('block_size')::int > ${fewPages} + 2 * relpages
			or pg_stat_get_mod_since_analyze(oid) > ${fewRows} + greatest(reltuples, 0))
	union all
	-- A table in partitions has statistics of its own, which autovacuum never makes.
	select 'only ' || quote_ident(relname) from pg_class t
	where relnamespace = 'public'::regnamespace and relkind = 'p' and has_table_privilege(oid, 'MAINTAIN')
		and (select sum(greatest(p.reltuples, 0)) from pg_inherits join pg_class p on p.oid = inhrelid
			where inhparent = t.oid) > ${fewRows} + 2 * greatest(reltuples, 0)`,
})

/**
 * Updates the statistics of tables that have just grown, from a sample, since autovacuum comes up to a
 * minute later. Skips tables that another process is analysing.
 */
export async function analyzeGrown(pool: Pool) {
	for (const { name } of await grownTables(pool))
		await pool.query(
			`set local default_statistics_target = ${quickTarget}; analyze (skip_locked) ${name}`,
		)
}

/** Looks every few seconds until stopped, and survives outages of the database. */
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
