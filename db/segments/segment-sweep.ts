import { statement } from '../statement.ts'

/**
 * Takes some of the tracked segments that are due, the longest waiting first. Each comes due again in
 * time for the next sweep, whether or not this one gets to its end. $1 how many
 */
export const takeDueSegments = statement<{ id: string; projectId: string; isDisabled: boolean }>(
	'take-due-segments',
	`with due as (
		select s.id from segments s where s.sweep_at <= now()
		order by s.sweep_at, s.id limit $1::int for no key update skip locked
	), taken as (
		update segments s set sweep_at = now() + interval '4 minutes'
		from due where s.id = due.id returning s.id, s.project_id
	)
	select taken.id, taken.project_id as "projectId", p.disabled_reason is not null as "isDisabled"
	from taken join projects p on p.id = taken.project_id order by taken.id`,
)

/** Sums of what was appended go into the counts, so that nobody has to add up many of them. */
export const foldSegmentTallies = statement(
	'fold-segment-tallies',
	`with touched as materialized (
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
	from sums where s.id = sums.segment_id`,
)
