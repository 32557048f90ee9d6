import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import { int, json, text, uuid } from '../sql-types.ts'
import { query, sql } from '../sql.ts'
import { isLocked } from '../transaction.ts'
import { statement } from '../statement.ts'
import { changedContacts } from './segment-changes.ts'
import { isSame, lockSegment, type SegmentRecord } from './segment-records.ts'
import { slugOf } from './segment-slug.ts'

// The difference between the members that match and the stored members: read by a cursor, written in
// chunks.

export interface Difference {
	id: string
	enters: boolean
}

const declare = query('declare-segment-difference', {})

/** In order of ids, like all writes of many rows. */
export async function declareDifference(
	db: PoolClient,
	segment: SegmentRecord,
	since: Date | null,
) {
	const condition = segment.condition!
	const matches = await compileFor(db, segment.projectId, condition)
	const [project, id] = [uuid.value(segment.projectId), uuid.value(segment.id)]
	const changed = since && changedContacts(condition, project, since)
	const stored = sql`from segment_members where project_id = ${project} and segment_id = ${id}`
	if (!changed)
		return declare(
			db,
			sql`declare difference no scroll cursor with hold for
			select coalesce(c.id, m.contact_id) as id, c.id is not null as enters
			from (select id from contacts c where c.project_id = ${project} and ${matches}) c
			full join (select contact_id ${stored}) m on m.contact_id = c.id
			where c.id is null or m.contact_id is null
			order by 1`,
		)
	// Each is looked up by index, however many there are.
	await db.query('set local enable_seqscan = off; set local enable_hashjoin = off')
	return declare(
		db,
		sql`declare difference no scroll cursor with hold for
		select id, enters from (
			select c.id, (${matches}) is true as enters,
				exists (select ${stored} and contact_id = c.id) as is_in
			from (select distinct id from (${changed}) changed) changed
			join contacts c on c.project_id = ${project} and c.id = changed.id
			offset 0
		) looked_at
		where enters <> is_in order by id`,
	)
}

/**
 * The segment may be locked while it is counted. Waiting longer would block all deletions of contacts, which wait
 * for their lock.
 */
const longestWaitMs = 200
const pauseMs = 500
const mostTries = 120

/** Writes one chunk; undefined if the segment was deleted or its condition has changed. */
export async function writeChunk(db: PoolClient, segment: SegmentRecord, rows: Difference[]) {
	for (let tries = 1; ; tries++)
		try {
			return await tryChunk(db, segment, rows)
		} catch (error) {
			await db.query('rollback').catch(() => {})
			if (!isLocked(error) || tries === mostTries) throw error
			await sleep(pauseMs)
		}
}

async function tryChunk(db: PoolClient, segment: SegmentRecord, rows: Difference[]) {
	await db.query(`begin; set local lock_timeout = ${longestWaitMs}`)
	await holdDeletions(db, { projectId: segment.projectId })
	const [now] = await lockSegment(db, { projectId: segment.projectId, segmentId: segment.id })
	if (!now || !isSame(segment, now)) return void (await db.query('rollback'))
	const [written] = await applyDifference(db, {
		projectId: segment.projectId,
		segmentId: segment.id,
		entering: rows.filter(({ enters }) => enters).map(({ id }) => id),
		leaving: rows.filter(({ enters }) => !enters).map(({ id }) => id),
		eventPrefix: `segment.${slugOf(now)}`,
		eventData: { segmentId: now.id, segmentName: now.name },
	})
	await db.query('commit')
	return written!
}

/** Before the segment is locked: waiting for a deletion then delays no one else. */
const holdDeletions = statement('hold-deletions-of-contacts', {
	params: { projectId: uuid },
	text: `select pg_advisory_xact_lock(deletions_of_contacts($projectId::uuid))`,
})

/**
 * Skips contacts that were deleted meanwhile. Contacts that are already in (or out) are not counted and
 * get no event. The statement counts its events itself: see db/counting.sql.
 */
const applyDifference = statement('apply-segment-difference', {
	params: {
		projectId: uuid,
		segmentId: uuid,
		entering: uuid.array,
		leaving: uuid.array,
		/** The events' names without their last word. */
		eventPrefix: text,
		eventData: json<object>(),
	},
	row: { entered: int, left: int },
	text: `with counting as materialized (
		select count_itself() as begun
	), entered as (
		insert into segment_members (project_id, segment_id, contact_id, computed)
		select $projectId, $segmentId::uuid, u.id, true
		from unnest($entering::uuid[]) with ordinality as u(id, place)
		cross join lateral (
			select from contacts c where c.project_id = $projectId and c.id = u.id offset 0) c
		where (select begun from counting) order by place
		on conflict do nothing returning contact_id
	), gone as (
		delete from segment_members
		where project_id = $projectId and segment_id = $segmentId::uuid
			and contact_id = any($leaving::uuid[]) and (select begun from counting)
		returning contact_id
	), emitted as (
		insert into events (project_id, name, contact_id, data)
		select $projectId, $eventPrefix::text || '.entry', contact_id, $eventData::jsonb from entered
		union all select $projectId, $eventPrefix::text || '.exit', contact_id, $eventData::jsonb
			from gone
		returning name, created_at
	), events_counted as (
		insert into event_tallies (project_id, name, day, count)
		select $projectId, name, (created_at at time zone 'UTC')::date, count(*)
		from emitted group by 2, 3
	)
	select (select count(*)::int from entered) as entered, (select count(*)::int from gone) as left`,
})
