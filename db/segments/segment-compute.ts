import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { statement } from '../statement.ts'
import { declareDifference, type Difference, writeChunk } from './segment-difference.ts'
import { findSegment, isComputed, isSame, lockSegment, recount } from './segment-records.ts'

export interface Computed {
	added: number
	removed: number
	total: number
}

const chunkSize = 2000
const patienceMs = 90_000
/** Computing is one query over all contacts: a few of them leave a machine room for what is urgent. */
const mostAtOnce = 2

/**
 * Brings the stored members of a tracked segment up to what its condition finds, with an event for
 * each entry and exit. The difference is found by one query and kept by the server as a cursor; it is
 * written chunk by chunk, each a transaction of its own, so that nobody is held up for long and a death
 * on the way leaves nothing but less to do for the next compute.
 *
 * Undefined: there is no such segment, or no longer, or it is not tracked.
 */
export async function computeSegment(
	pool: Pool,
	projectId: string,
	id: string,
): Promise<Computed | undefined> {
	for (const deadline = Date.now() + patienceMs; ; await sleep(50)) {
		const db = await turn(pool)
		try {
			if (!(await tryLock(db, [id]))[0]!.locked) {
				if (Date.now() > deadline) throw new Error('Another compute of this segment goes on and on')
				continue
			}
			const computed = await compute(db, projectId, id)
			await unlock(db, [id])
			return computed
		} catch (error) {
			// Its lock, its transaction and its cursor end with the connection.
			db.failed = true
			throw error
		} finally {
			db.release(db.failed)
			pass()
		}
	}
}

// Across processes the computes of a segment take turns by a lock of the session; in a process all
// computes do, so that they cannot take every connection.
const waiting: (() => void)[] = []
let running = 0

type Session = PoolClient & { failed?: boolean }

async function turn(pool: Pool): Promise<Session> {
	if (running >= mostAtOnce) await new Promise<void>((go) => waiting.push(go))
	else running += 1
	try {
		return await pool.connect()
	} catch (error) {
		pass()
		throw error
	}
}

function pass() {
	const next = waiting.shift()
	if (next) next()
	else running -= 1
}

const lockKey = `hashtextextended('compute of segment ' || $1::text, 0)`
/** $1 segment */
const tryLock = statement<{ locked: boolean }>(
	'try-lock-compute',
	`select pg_try_advisory_lock(${lockKey}) as locked`,
)
/** $1 segment */
const unlock = statement('unlock-compute', `select pg_advisory_unlock(${lockKey})`)

async function compute(db: Session, projectId: string, id: string): Promise<Computed | undefined> {
	// One processor is enough, and another is somebody else's; compiling takes longer than it saves.
	await db.query(
		`begin; set local jit = off; set local max_parallel_workers_per_gather = 0; set local work_mem = '64MB'`,
	)
	const [segment] = await findSegment(db, [projectId, id])
	if (!segment || !isComputed(segment)) return void (await db.query('rollback'))
	const began = await beginning(db, projectId, id)
	await declareDifference(db, segment, began.since)
	await db.query('commit')

	let [added, removed] = [0, 0]
	for (;;) {
		const { rows } = await db.query<Difference>(`fetch ${chunkSize} from difference`)
		if (rows.length === 0) break
		const written = await writeChunk(db, segment, rows)
		if (!written) break
		added += written.entered
		removed += written.left
	}
	await db.query('close difference')

	await db.query('begin')
	const [now] = await lockSegment(db, [projectId, id])
	if (!now) return void (await db.query('rollback'))
	if (isSame(segment, now)) await finish(db, [projectId, id, began.until, began.since === null])
	const total = isComputed(now) ? await recount(db, now, null) : now.memberCount
	await db.query('commit')
	return { added, removed, total }
}

interface Beginning {
	/** Null: nothing says what has changed since the last compute, so everybody is looked at. */
	since: Date | null
	/** Everything that was written before this is seen by the queries that follow. */
	until: Date
}

/**
 * A transaction stamps its rows with the moment of its beginning, and shows them when it commits: what
 * is in the dark now was stamped after the oldest transaction began that is still open. All stamps come
 * from the database's own clock; the second before is for its being set. Once a day all are looked at.
 * $1 project, $2 segment
 */
const beginningOf = statement<Beginning>(
	'begin-compute',
	`select case when computed_fully_at > now() - interval '1 day' then computed_until end as since,
		least(now(), (select min(xact_start) from pg_stat_activity
			where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid())) - interval '1 second' as until
	from segments where project_id = $1 and id = $2`,
)
const beginning = async (db: PoolClient, projectId: string, id: string) =>
	(await beginningOf(db, [projectId, id]))[0]!

/** $1 project, $2 segment, $3 until when all is in it, $4 whether everybody was looked at */
const finish = statement(
	'finish-compute',
	`update segments set computed_until = $3::timestamptz,
		computed_fully_at = case when $4::bool then now() else computed_fully_at end
	where project_id = $1 and id = $2`,
)
