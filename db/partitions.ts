import type { Pool, PoolClient } from 'pg'
import { Attempt } from './emails/attempt.ts'
import { Email } from './emails/email.ts'
import { Event } from './events/event.ts'
import { bool, int, text } from './sql-types.ts'
import { statement } from './statement.ts'
import { inChunk } from './transaction.ts'
import { inTurn } from './turn.ts'

// Mails, attempts and events are kept in one table per month: by the time in the mail's or event's id, which
// Postgres made when the row was written. So writers touch the latest tables only, a month is removed at once,
// and a list in order of ids reads one table after another. `emails_2027_01` has the ids of January 2027, and
// `emails_before_2027_01`, which an upgrade has made of the table before it, those of all times before.

/** For entities, as `static partitions`. */
export interface Partitions {
	/** The column whose value decides which table a row is in. */
	by: string
	/** How Postgres stores each of the tables, as actions of `alter table`. */
	storage: readonly string[]
}

const tables = { emails: Email.partitions, attempts: Attempt.partitions, events: Event.partitions }
type Table = keyof typeof tables
/** Those that refer to others come first. */
const names: Table[] = ['attempts', 'events', 'emails']

/** Enough for weeks without housekeeping. There is no table for later ids, so that each table can be removed. */
const monthsAhead = 2

/** Longer, and those who write contacts would notice. */
const longestWaitMs = 100

/**
 * The first day of the month that a table is named after. Null for other names: Postgres may ask for those of all
 * tables, before it looks for the parts of ours.
 */
const firstDay = (name: string) =>
	`case when ${name} ~ '_[0-9]{4}_[0-9]{2}$' then to_date(right(${name}, 7), 'YYYY_MM')::timestamp at time zone 'UTC' end`

/** Whether the rows of a month have their table, or are in the one of all times before. */
const isThere = (table: string, name: string) => `exists (
		select from pg_inherits join pg_class c on c.oid = inhrelid
		where inhparent = to_regclass(${table})
			and (c.relname = ${name} or c.relname like '%\\_before\\_%' and right(c.relname, 7) > right(${name}, 7)))`

/** Whether the mails of a month, of UTC, are still there. */
export const keepsMonth = (month: string) =>
	isThere(`'emails'`, `('emails_' || to_char(${month}, 'YYYY_MM'))`)

/** Whether the mails of a month between two times were removed. */
export const lacksMonths = (from: string, to: string) => `exists (
		select from generate_series(date_trunc('month', ${from} at time zone 'UTC'), ${to} at time zone 'UTC',
			interval '1 month') month
		where not ${keepsMonth('month')})`

const missing = statement('missing-partitions', {
	params: { tables: text.array, monthsAhead: int },
	row: { table: text.of<Table>(), name: text, from: text, to: text },
	text: `select t.name as table, n.name, first_id_at(month at time zone 'UTC')::text as from,
		first_id_at((month + interval '1 month') at time zone 'UTC')::text as to
	from unnest($tables::text[]) t(name)
	cross join generate_series(date_trunc('month', now() at time zone 'UTC'),
		now() at time zone 'UTC' + make_interval(months => $monthsAhead), interval '1 month') month
	cross join lateral (select t.name || '_' || to_char(month, 'YYYY_MM') as name) n
	where not ${isThere('t.name', 'n.name')}
	order by month`,
})

/**
 * Makes the tables of this month and the next ones, if they are missing, and returns their number. Their foreign keys,
 * though not enforced, lock the tables that they refer to. While others use those, this gives way and tries again.
 */
export const addPartitions = (pool: Pool) =>
	inChunk(pool, async (db) => {
		await holdPartitions(db)
		const added = await missing(db, { tables: names, monthsAhead })
		if (added.length > 0) await db.query(`set local lock_timeout = ${longestWaitMs}`)
		for (const { table, name, from, to } of added) {
			await db.query(`create table ${name}
				(like ${table} including defaults including constraints including generated including storage)`)
			for (const action of tables[table].storage) await db.query(`alter table ${name} ${action}`)
			await db.query(
				`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`,
			)
		}
		return added.length
	})

const holdPartitions = statement('hold-partitions', {
	params: {},
	text: `select pg_advisory_xact_lock(hashtextextended('partitions', 0))`,
})

const expired = statement('expired-partitions', {
	params: { tables: text.array, days: int },
	row: { table: text.of<Table>(), name: text, month: text, isPending: bool },
	text: `select t.name as table, c.relname::text as name, substr(c.relname, length(t.name) + 2) as month, inhdetachpending as "isPending"
	from unnest($tables::text[]) with ordinality t(name, place)
	join pg_inherits on inhparent = to_regclass(t.name) join pg_class c on c.oid = inhrelid
	where ${firstDay('c.relname')} + case when c.relname like '%\\_before\\_%' then interval '0' else interval '1 month' end
		<= now() - make_interval(days => $days)
	order by right(c.relname, 7), place`,
})

/** Tables that were taken out, and are still to be removed. */
const leftOver = statement('left-over-partitions', {
	params: { tables: text.array },
	row: { name: text },
	text: `select c.relname::text as name from pg_class c
	where c.relkind = 'r' and not c.relispartition and c.relnamespace = current_schema()::regnamespace
		and c.relname ~ ('^(' || array_to_string($tables::text[], '|') || ')_(before_)?[0-9]{4}_[0-9]{2}$')`,
})

/**
 * Removes the tables of months that ended this many days ago, once all their mails are settled, and returns their
 * number. Nobody waits: a table is taken out while others read and write, and then only we know it. No trigger
 * runs, so the counts of mails and events keep what they have counted.
 */
export async function dropPartitions(pool: Pool, days: number): Promise<number> {
	const dropped = await inTurn(pool, 'removal of partitions', async (db) => {
		await detachExpired(db, days)
		const removed = await leftOver(db, { tables: names })
		// The removal of a foreign key locks the table that it refers to.
		const wait = `set local lock_timeout = ${longestWaitMs}`
		for (const { name } of removed) await db.query(`begin; ${wait}; drop table ${name}; commit`)
		return removed.length
	})
	return dropped ?? 0
}

/** The mails of a month come last. If they are gone, another try has come that far. */
async function detachExpired(db: PoolClient, days: number) {
	const parts = await expired(db, { tables: names, days })
	const waiting = new Set<string>()
	for (const { table, name, month, isPending } of parts)
		if (table === 'emails' && !isPending && (await hasUnsettled(db, name))) waiting.add(month)
	// A table can have only one detachment under way.
	for (const { table, name, isPending } of parts)
		if (isPending) await db.query(`alter table ${table} detach partition ${name} finalize`)
	for (const { table, name, month, isPending } of parts)
		if (!isPending && !waiting.has(month))
			await db.query(`alter table ${table} detach partition ${name} concurrently`)
}

/**
 * Mails in doubt come first, by their index: one may keep its month until somebody decides, and each time we would
 * read the whole month to find it. One process reads: several would take the processors from those who send.
 */
async function hasUnsettled(db: PoolClient, name: string) {
	const hasAny = async (condition: string) =>
		(await db.query(`select from ${name} where ${condition} limit 1`)).rowCount! > 0
	await db.query('begin; set local max_parallel_workers_per_gather = 0')
	const found =
		(await hasAny(`rare_status = 'UNCERTAIN'`)) || (await hasAny('is_unsettled(status)'))
	await db.query('commit')
	return found
}
