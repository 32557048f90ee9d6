import type { PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import { lockedContact } from '../jobs/jobs.ts'
import { statement } from '../statement.ts'
import { changedContacts } from './segment-changes.ts'
import { isSame, lockSegment, type SegmentRecord } from './segment-records.ts'
import { slugOf } from './segment-slug.ts'

// Who is in a segment, against who is stored to be: found as a cursor, written in chunks.

export interface Difference {
	id: string
	enters: boolean
}

/** In the order of ids, as everybody writes who writes many. */
export async function declareDifference(
	db: PoolClient,
	segment: SegmentRecord,
	since: Date | null,
) {
	const { projectId, id } = segment
	const condition = segment.condition!
	const { sql, parameters } = await compileFor(db, projectId, condition)
	const changed = since && changedContacts(condition, 3 + parameters.length, since)
	const values = [projectId, id, ...parameters]
	const stored = `from segment_members where project_id = $1 and segment_id = $2`
	if (!changed)
		return db.query(
			`declare difference no scroll cursor with hold for
			select coalesce(c.id, m.contact_id) as id, c.id is not null as enters
			from (select id from contacts c where c.project_id = $1 and ${sql('c', 3)}) c
			full join (select contact_id ${stored}) m on m.contact_id = c.id
			where c.id is null or m.contact_id is null
			order by 1`,
			values,
		)
	// However many they are, each is looked up by index.
	await db.query('set local enable_seqscan = off; set local enable_hashjoin = off')
	return db.query(
		`declare difference no scroll cursor with hold for
		select id, enters from (
			select c.id, (${sql('c', 3)}) is true as enters,
				exists (select ${stored} and contact_id = c.id) as is_in
			from (select distinct id from (${changed.sql}) changed) changed
			join contacts c on c.project_id = $1 and c.id = changed.id
			offset 0
		) looked_at
		where enters <> is_in order by id`,
		[...values, ...changed.parameters],
	)
}

/** Writes one chunk; undefined if the segment is gone or asks something else by now. */
export async function writeChunk(db: PoolClient, segment: SegmentRecord, rows: Difference[]) {
	await db.query(`begin; set local tempost.computing = 'on'`)
	const [now] = await lockSegment(db, [segment.projectId, segment.id])
	if (!now || !isSame(segment, now)) return void (await db.query('rollback'))
	const [written] = await applyDifference(db, [
		segment.projectId,
		segment.id,
		rows.filter(({ enters }) => enters).map(({ id }) => id),
		rows.filter(({ enters }) => !enters).map(({ id }) => id),
		`segment.${slugOf(now)}`,
		JSON.stringify({ segmentId: now.id, segmentName: now.name }),
	])
	await db.query('commit')
	return written!
}

/**
 * Contacts that have been deleted meanwhile are passed over, who is in (or out) already is not counted
 * and has no event. $1 project, $2 segment, $3 who enters, $4 who leaves, $5 the events' names but for
 * their last word, $6 their data
 */
const applyDifference = statement<{ entered: number; left: number }>(
	'apply-segment-difference',
	`with present as materialized (
		select c.id from (select id from unnest($3::uuid[]) as u(id) order by id) u
		cross join lateral (${lockedContact('id = u.id', 'key share')}) c
	), entered as (
		insert into segment_members (project_id, segment_id, contact_id, computed)
		select $1, $2::uuid, id, true from present order by id
		on conflict do nothing returning contact_id
	), gone as (
		delete from segment_members
		where project_id = $1 and segment_id = $2::uuid and contact_id = any($4::uuid[])
		returning contact_id
	), emitted as (
		insert into events (project_id, name, contact_id, data)
		select $1, $5::text || '.entry', contact_id, $6::jsonb from entered
		union all select $1, $5::text || '.exit', contact_id, $6::jsonb from gone
	)
	select (select count(*)::int from entered) as entered, (select count(*)::int from gone) as left`,
)
