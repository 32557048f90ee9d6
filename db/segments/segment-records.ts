import type { Pool, PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import type { Condition } from '../conditions/condition.ts'
import type { Sized } from '../sorted-list.ts'
import { statement } from '../statement.ts'

export interface SegmentRecord {
	id: string
	projectId: string
	name: string
	description: string | null
	type: 'DYNAMIC' | 'STATIC'
	condition: Condition | null
	trackMembership: boolean
	memberCount: number
	createdAt: Date
	updatedAt: Date
}

/** What has come and gone since the count was written; where nobody is stored, that says nothing. */
const tallied = `case when s.type = 'STATIC' or s.track_membership then (
	select coalesce(sum(t.change), 0) from segment_tallies t
	where t.project_id = s.project_id and t.segment_id = s.id) else 0 end`

const columns = `s.id, s.project_id as "projectId", s.name, s.description, s.type, s.condition,
	s.track_membership as "trackMembership", greatest(s.member_count + ${tallied}, 0)::int as "memberCount",
	s.created_at as "createdAt", s.updated_at as "updatedAt"`

/** With its time, its ids and the words for them. */
const bytesBesides = 400
/** Of 64 K characters, as JSON. */
const longestCondition = 3 * 65_536

/**
 * All of them, newest first. What a condition takes is told from what is stored without unpacking it:
 * packed, it may be as long as any. $1 project
 */
export const listSegments = statement<Sized>(
	'list-segments',
	`select s.id, ${bytesBesides} + octet_length(s.name) + coalesce(octet_length(s.description), 0)
		+ case when pg_column_compression(s.condition) is not null then ${longestCondition}
			else coalesce(pg_column_size(s.condition), 0) end as bytes
	from segments s where s.project_id = $1 order by s.created_at desc, s.id desc`,
)

/** $1 project, $2 ids, in whose order they come */
export const segmentsOfList = statement<SegmentRecord>(
	'segments-of-list',
	`select ${columns} from unnest($2::uuid[]) with ordinality as listed(id, place)
	join segments s on s.project_id = $1 and s.id = listed.id order by place`,
)

/** $1 project, $2 id */
export const findSegment = statement<SegmentRecord>(
	'find-segment',
	`select ${columns} from segments s where s.project_id = $1 and s.id = $2::uuid`,
)

/** The same, and nobody else changes or computes it until this transaction ends. $1 project, $2 id */
export const lockSegment = statement<SegmentRecord>(
	'lock-segment',
	`select ${columns} from segments s where s.project_id = $1 and s.id = $2::uuid for no key update`,
)

export const isComputed = ({ type, trackMembership }: SegmentRecord) =>
	type === 'DYNAMIC' && trackMembership

/** Whether it still asks what it asked before. */
export const isSame = (before: SegmentRecord, now: SegmentRecord) =>
	isComputed(now) && JSON.stringify(before.condition) === JSON.stringify(now.condition)

/** $1 project, $2 name, $3 description, $4 type, $5 condition, $6 whether tracked, $7 count */
export const insertSegment = statement<{ id: string }>(
	'insert-segment',
	`insert into segments (project_id, name, description, type, condition, track_membership,
		member_count, sweep_at)
	values ($1, $2, $3, $4, $5::jsonb, $6::bool, $7,
		case when $4 = 'DYNAMIC' and $6::bool then now() end)
	returning id`,
)

/**
 * Another condition, or tracking that begins anew, needs a full compute.
 * $1 project, $2 id, $3 name, $4 description, $5 condition, $6 whether tracked
 */
export const updateSegment = statement(
	'update-segment',
	`update segments set name = $3, description = $4, condition = $5::jsonb, track_membership = $6::bool,
		computed_until = case when condition is distinct from $5::jsonb or not track_membership
			then null else computed_until end,
		sweep_at = case when type = 'DYNAMIC' and $6::bool then coalesce(sweep_at, now()) end,
		updated_at = now()
	where project_id = $1 and id = $2::uuid and (name, description, condition, track_membership)
		is distinct from ($3::text, $4::text, $5::jsonb, $6::bool)`,
)

/** $1 project, $2 id */
export const deleteSegment = statement<{ id: string }>(
	'delete-segment',
	`delete from segments where project_id = $1 and id = $2::uuid returning id`,
)

/** Of two that change what segments refer to, the second sees what the first has done. $1 project */
export const lockReferences = statement(
	'lock-segment-references',
	`select pg_advisory_xact_lock(hashtextextended('segment references of ' || $1::text, 0))`,
)

/** How many contacts a condition finds. */
export async function countMatching(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition,
): Promise<number> {
	const { sql, parameters } = await compileFor(db, projectId, condition)
	const { rows } = await db.query<{ count: number }>(
		`select count(*)::int as count from contacts c where c.project_id = $1 and ${sql('c', 2)}`,
		[projectId, ...parameters],
	)
	return rows[0]!.count
}

/**
 * Counts anew, in one statement: what it takes off the tallies is exactly what the count has in it.
 * Without a condition the stored members are counted.
 */
export async function recount(
	db: Pool | PoolClient,
	{ projectId, id }: { projectId: string; id: string },
	condition: Condition | null,
): Promise<number> {
	const compiled = condition && (await compileFor(db, projectId, condition))
	const counted = compiled
		? `contacts c where c.project_id = $1 and ${compiled.sql('c', 3)}`
		: 'segment_members m where m.project_id = $1 and m.segment_id = $2'
	const { rows } = await db.query<{ count: number }>(
		`with counted as (
			select count(*)::int as count from ${counted}
		), counted_in as (
			delete from segment_tallies where project_id = $1 and segment_id = $2
		)
		update segments set member_count = counted.count from counted
		where project_id = $1 and id = $2 returning counted.count`,
		[projectId, id, ...(compiled?.parameters ?? [])],
	)
	return rows[0]?.count ?? 0
}
