import { bool, int, type RowOf, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

export type DueSegment = RowOf<typeof takeDueSegments>

/**
 * Takes some of the tracked segments that are due: of each project the one that has waited longest. So a project with
 * many large segments keeps none of the others waiting. Each is due again in time for the next sweep, whether or not
 * this sweep completes.
 */
export const takeDueSegments = statement('take-due-segments', {
	params: { limit: int },
	row: { id: uuid, projectId: uuid, isDisabled: bool },
	text: `with due as (
		select s.id
		from (
			select distinct on (project_id) project_id, id, sweep_at from segments
			where sweep_at <= now() order by project_id, sweep_at, id
		) first
		join segments s on s.project_id = first.project_id and s.id = first.id and s.sweep_at <= now()
		order by first.sweep_at, s.id limit $limit::int for no key update of s skip locked
	), taken as (
		update segments s set sweep_at = now() + interval '4 minutes'
		from due where s.id = due.id returning s.id, s.project_id
	)
	select taken.id, taken.project_id as "projectId", p.disabled_reason is not null as "isDisabled"
	from taken join projects p on p.id = taken.project_id order by taken.id`,
})

/** A segment that takes too long leaves the others their turns: it is due again after an hour. */
export const postpone = statement('postpone-segment', {
	params: { projectId: uuid, segmentId: uuid },
	text: `update segments set sweep_at = now() + interval '1 hour'
	where project_id = $projectId and id = $segmentId and sweep_at is not null`,
})

/**
 * Folds the tallies into the counts, so that requests don't have to add up many of them. The count of a segment that is
 * not tracked is not that of its stored members, which it may still have from before.
 */
export const foldSegmentTallies = statement('fold-segment-tallies', {
	params: {},
	text: `with touched as materialized (
		select s.project_id, s.id from segments s where exists (
			select from segment_tallies t where t.project_id = s.project_id and t.segment_id = s.id)
		order by s.id for no key update skip locked
	), gone as (
		delete from segment_tallies t using touched
		where t.project_id = touched.project_id and t.segment_id = touched.id
		returning t.segment_id, t.change
	), sums as (
		select segment_id, sum(change) as change from gone group by 1
	)
	update segments s set member_count = s.member_count + sums.change
	from sums where s.id = sums.segment_id and (s.type = 'STATIC' or s.track_membership)`,
})
