import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool, PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import { countMatching } from '../contacts/matching-contacts.ts'
import type { Condition } from '../conditions/condition.ts'
import { sizedColumns } from '../sorted-list.ts'
import { bigint, bool, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { query, sql } from '../sql.ts'
import { statement } from '../statement.ts'
import { type NewRow, now, tables } from '../tables.ts'

const segmentRecordColumns = {
	id: uuid,
	projectId: uuid,
	name: text,
	description: text.orNull,
	type: text.of<'DYNAMIC' | 'STATIC'>(),
	condition: json<Condition>().orNull,
	trackMembership: bool,
	memberCount: int,
	/** Null: its members are not computed, or not yet. */
	computedAt: timestamp.orNull,
	createdAt: timestamp,
	updatedAt: timestamp,
}
export type SegmentRecord = RowOf<typeof segmentRecordColumns>

/** The members added and removed since the count was written. Without stored members it means nothing. */
const tallied = `case when s.type = 'STATIC' or s.track_membership then (
	select coalesce(sum(t.change), 0) from segment_tallies t
	where t.project_id = s.project_id and t.segment_id = s.id) else 0 end`

const memberCount = `greatest(s.member_count + ${tallied}, 0)::int as "memberCount"`

const columns = `s.id, s.project_id as "projectId", s.name, s.description, s.type, s.condition,
	s.track_membership as "trackMembership", ${memberCount},
	case when s.type = 'DYNAMIC' and s.track_membership then s.computed_until end as "computedAt",
	s.created_at as "createdAt", s.updated_at as "updatedAt"`

/** With its times, ids and their names. */
const bytesBesides = 400
/** For 64 K characters, as JSON. */
const longestCondition = 3 * 65_536

/**
 * All of them, newest first. The size of a condition is taken from its stored form without decompressing
 * it; a compressed one counts with the maximum.
 */
export const listSegments = statement('list-segments', {
	params: { projectId: uuid },
	row: sizedColumns,
	text: `select s.id, ${bytesBesides} + octet_length(s.name) + coalesce(octet_length(s.description), 0)
		+ case when pg_column_compression(s.condition) is not null then ${longestCondition}
			else coalesce(pg_column_size(s.condition), 0) end as bytes
	from segments s where s.project_id = $projectId order by s.created_at desc, s.id desc`,
})

/** In order of the ids. */
export const segmentsOfList = statement('segments-of-list', {
	params: { projectId: uuid, segmentIds: uuid.array },
	row: segmentRecordColumns,
	text: `select ${columns} from unnest($segmentIds::uuid[]) with ordinality as listed(id, place)
	join segments s on s.project_id = $projectId and s.id = listed.id order by place`,
})

/**
 * The newest, without their conditions, which may have 64 K each, and how many there are. One statement, so that both
 * are about the same segments.
 */
export const outlineSegments = statement('outline-segments', {
	params: { projectId: uuid, pattern: text, limit: bigint },
	row: {
		id: uuid,
		name: text,
		type: text.of<'DYNAMIC' | 'STATIC'>(),
		memberCount: int,
		description: text.orNull,
		updatedAt: timestamp,
		total: int,
	},
	text: `select s.id, s.name, s.type, ${memberCount}, s.description, s.updated_at as "updatedAt", s.total
	from (
		select *, count(*) over ()::int as total from segments
		where project_id = $projectId and name ilike $pattern
		order by created_at desc, id desc limit $limit
	) s order by s.created_at desc, s.id desc`,
})

export const findSegment = statement('find-segment', {
	params: { projectId: uuid, segmentId: uuid },
	row: segmentRecordColumns,
	text: `select ${columns} from segments s where s.project_id = $projectId
		and s.id = $segmentId::uuid`,
})

/** The same, and prevents changes and computes of it until the transaction ends. */
export const lockSegment = statement('lock-segment', {
	params: { projectId: uuid, segmentId: uuid },
	row: segmentRecordColumns,
	text: `select ${columns} from segments s where s.project_id = $projectId
		and s.id = $segmentId::uuid for no key update`,
})

export const isComputed = ({ type, trackMembership }: SegmentRecord) =>
	type === 'DYNAMIC' && trackMembership

/** Whether its condition is unchanged. */
export const isSame = (before: SegmentRecord, now: SegmentRecord) =>
	isComputed(now) && JSON.stringify(before.condition) === JSON.stringify(now.condition)

export const insertSegment = (em: EntityManager, values: NewRow<'segments'>) =>
	tables(em)
		.insertInto('segments')
		.values({
			...values,
			...(values.type === 'DYNAMIC' && values.trackMembership ? { sweepAt: now } : {}),
		})
		.returning('id')
		.executeTakeFirstOrThrow()

/** A new condition, or newly started tracking, needs a full compute. */
export const updateSegment = statement('update-segment', {
	params: {
		projectId: uuid,
		segmentId: uuid,
		name: text,
		description: text.orNull,
		condition: json<Condition>().orNull,
		trackMembership: bool,
	},
	text: `update segments set name = $name, description = $description,
		condition = $condition::jsonb, track_membership = $trackMembership::bool,
		computed_until = case when condition is distinct from $condition::jsonb or not track_membership
			then null else computed_until end,
		sweep_at = case when type = 'DYNAMIC' and $trackMembership::bool
			then coalesce(sweep_at, now()) end,
		updated_at = now()
	where project_id = $projectId and id = $segmentId::uuid
		and (name, description, condition, track_membership)
		is distinct from ($name::text, $description::text, $condition::jsonb, $trackMembership::bool)`,
})

export const deleteSegment = (em: EntityManager, projectId: string, segmentId: string) =>
	tables(em)
		.deleteFrom('segments')
		.where('projectId', '=', projectId)
		.where('id', '=', segmentId)
		.execute()

/**
 * Of two transactions that change references between segments, the second sees the changes of the first.
 */
export const lockReferences = statement('lock-segment-references', {
	params: { projectId: text },
	text: `select pg_advisory_xact_lock(hashtextextended('segment references of ' || $projectId::text, 0))`,
})

/** The number of contacts that match a condition. */
export const countFound = async (db: Pool | PoolClient, projectId: string, condition: Condition) =>
	countMatching(db, projectId, await compileFor(db, projectId, condition))

/** Stores a count of the condition that was made before. */
export const storeCount = statement('store-count-of-segment', {
	params: { projectId: uuid, segmentId: uuid, count: int },
	text: `with counted_in as (
		delete from segment_tallies where project_id = $projectId and segment_id = $segmentId::uuid
	)
	update segments set member_count = $count::int where project_id = $projectId and id = $segmentId::uuid`,
})

const countAnew = query('recount-segment', { count: int })

/**
 * Counts again, in one statement, so that the tallies it deletes are exactly those in the count. Without a
 * condition the stored members are counted.
 */
export async function recount(
	db: Pool | PoolClient,
	segment: { projectId: string; id: string },
	condition: Condition | null,
): Promise<number> {
	const [project, id] = [uuid.value(segment.projectId), uuid.value(segment.id)]
	const members = condition
		? sql`contacts c where c.project_id = ${project}
			and ${await compileFor(db, segment.projectId, condition)}`
		: sql`segment_members m where m.project_id = ${project} and m.segment_id = ${id}`
	const [counted] = await countAnew(
		db,
		sql`with counted as (
			select count(*)::int as count from ${members}
		), counted_in as (
			delete from segment_tallies where project_id = ${project} and segment_id = ${id}
		)
		update segments set member_count = counted.count from counted
		where project_id = ${project} and id = ${id} returning counted.count`,
	)
	return counted?.count ?? 0
}
