import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { createFairTurns, TurnsBusy } from '../fair-turns.ts'
import { bool, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { isTooSlow } from '../timed-reading.ts'
import { declareDifference, type Difference, writeChunk } from './segment-difference.ts'
import {
	findSegment,
	isComputed,
	isSame,
	lockSegment,
	recount,
	type SegmentRecord,
} from './segment-records.ts'

export interface Computed {
	added: number
	removed: number
	total: number
}

const chunkSize = 2000
const patienceMs = 90_000
/** For finding the difference. A caller that waits gets its error in time. */
const mostMsOfRequest = 60_000

/**
 * Updates the stored members of a tracked segment to match its condition, with an event for each entry and
 * exit. One query finds the difference, which the server keeps as a cursor. It is written in chunks, each
 * in a transaction of its own, so no lock is held for long, and after a crash the next compute has less to
 * do.
 *
 * Undefined: the segment doesn't exist (any more), or is not tracked. Throws `TurnsBusy` instead of waiting long, and
 * the error of Postgres if finding the difference takes more than `mostMs` (`isTooSlow`).
 */
export const computeDueSegment = (pool: Pool, projectId: string, id: string, mostMs: number) =>
	unlessBeingComputed(() => computeAlone(pool, projectId, id, mostMs))

/**
 * A compute is one query over all contacts, so only a few run at once, which leaves processors and connections to
 * urgent work. Projects take turns.
 */
const inTurn = createFairTurns({ atOnce: 2, ofOne: 1, waiting: 10, patienceMs })

/** The same for a request. */
export const computeSegment = (
	pool: Pool,
	projectId: string,
	id: string,
	mostMs = mostMsOfRequest,
) => unlessBeingComputed(() => inTurn(projectId, () => computeAlone(pool, projectId, id, mostMs)))

/** Waits for another compute of the same segment. */
async function unlessBeingComputed(compute: () => ReturnType<typeof computeAlone>) {
	for (const deadline = Date.now() + patienceMs; ; await sleep(50)) {
		const computed = await compute()
		if (computed !== 'is being computed') return computed
		if (Date.now() > deadline)
			throw new TurnsBusy('Another compute of this segment takes too long', true)
	}
}

/** Only one compute of a segment runs at a time in all processes: it has a lock of its session. */
async function computeAlone(pool: Pool, projectId: string, id: string, mostMs: number) {
	const db = await pool.connect()
	let isFailed = true
	try {
		const isLocked = (await tryLock(db, { segmentId: id }))[0]!.locked
		const computed = isLocked ? await compute(db, projectId, id, mostMs) : 'is being computed'
		if (isLocked) await unlock(db, { segmentId: id })
		isFailed = false
		return computed
	} finally {
		// Closing the connection ends its lock, transaction and cursor.
		db.release(isFailed)
	}
}

const lockKey = `hashtextextended('compute of segment ' || $segmentId::text, 0)`
const tryLock = statement('try-lock-compute', {
	params: { segmentId: text },
	row: { locked: bool },
	text: `select pg_try_advisory_lock(${lockKey}) as locked`,
})
const unlock = statement('unlock-compute', {
	params: { segmentId: text },
	text: `select pg_advisory_unlock(${lockKey})`,
})

async function compute(
	db: PoolClient,
	projectId: string,
	id: string,
	mostMs: number,
): Promise<Computed | undefined> {
	// Without parallel workers, because other work needs the processors; compiling takes longer than it
	// saves.
	const settings = `begin; set local jit = off; set local max_parallel_workers_per_gather = 0; set local work_mem = '64MB';
		set local statement_timeout = ${mostMs}`
	await db.query(settings)
	const [segment] = await findSegment(db, { projectId, segmentId: id })
	if (!segment || !isComputed(segment)) return void (await db.query('rollback'))
	const began = await beginning(db, projectId, id)
	const { since, first } = await declareInTime(db, segment, began, settings)

	let [added, removed, isComplete] = [0, 0, true]
	for (let rows = first; rows.length > 0; rows = await nextChunk(db)) {
		const written = await writeChunk(db, segment, rows)
		if (!written) {
			isComplete = false
			break
		}
		added += written.entered
		removed += written.left
	}
	await db.query('close difference')

	await db.query('begin')
	const [now] = await lockSegment(db, { projectId, segmentId: id })
	if (!now) return void (await db.query('rollback'))
	// A new condition was counted when it was given.
	let total = now.memberCount
	if (isComplete && isSame(segment, now)) {
		await finish(db, {
			projectId,
			segmentId: id,
			until: began.until,
			isWhole: since === null,
			isPutOff: since !== began.since,
		})
		total = await recount(db, now, null)
	}
	await db.query('commit')
	return { added, removed, total }
}

const nextChunk = async (db: PoolClient) =>
	(await db.query<Difference>(`fetch ${chunkSize} from difference`)).rows

/**
 * Declares the cursor, and reads its first chunk: it is sorted, so everything has been read by then. A commit would
 * read it, too, but without a limit. If reading all contacts takes too long, it has those that changed since the last
 * compute. `since`: null if all contacts were read.
 */
async function declareInTime(
	db: PoolClient,
	segment: SegmentRecord,
	{ since, last }: Beginning,
	settings: string,
) {
	try {
		return await declareSince(since)
	} catch (error) {
		if (!isTooSlow(error) || since !== null || last === null) throw error
		await db.query('rollback')
		await db.query(settings)
		return declareSince(last)
	}

	async function declareSince(time: Date | null) {
		await declareDifference(db, segment, time)
		const first = await nextChunk(db)
		await db.query('commit')
		return { since: time, first }
	}
}

type Beginning = RowOf<typeof beginningOf>

/**
 * A transaction stamps its rows with its start time, and shows them at its commit. So rows that are
 * invisible now have stamps after the start of the oldest open transaction. All stamps come from the
 * database's clock; one second more allows for adjustments of it. Once a day all contacts are read.
 */
const beginningOf = statement('begin-compute', {
	params: { projectId: uuid, segmentId: uuid },
	row: {
		/** Null: the changes since the last compute are unknown, so all contacts are read. */
		since: timestamp.orNull,
		/** Up to when changes were included the last time. */
		last: timestamp.orNull,
		/** The following queries see everything written before this time. */
		until: timestamp,
	},
	text: `select case when computed_fully_at > now() - interval '1 day' then computed_until end as since,
		computed_until as last,
		least(now(), (select min(xact_start) from pg_stat_activity
			where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid())) - interval '1 second' as until
	from segments where project_id = $projectId and id = $segmentId`,
})
const beginning = async (db: PoolClient, projectId: string, id: string) =>
	(await beginningOf(db, { projectId, segmentId: id }))[0]!

const finish = statement('finish-compute', {
	params: {
		projectId: uuid,
		segmentId: uuid,
		/** Changes up to this time are included. */
		until: timestamp,
		/** Whether every contact was read, not only changed ones. */
		isWhole: bool,
		/** Every contact should have been read, but that took too long: it is tried again in an hour. */
		isPutOff: bool,
	},
	text: `update segments set computed_until = $until::timestamptz,
		computed_fully_at = case when $isWhole::bool then now() when $isPutOff::bool then now() - interval '23 hours'
			else computed_fully_at end
	where project_id = $projectId and id = $segmentId`,
})
