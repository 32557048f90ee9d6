import type { Pool } from 'pg'
import { type FrozenCondition, freeze, freezeMembers } from '../conditions/frozen-condition.ts'
import { lockReferences } from '../segments/segment-records.ts'
import { json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { isOfPresentSchedule } from './automation-schedules.ts'

/** One scheduled time of an automation. */
export interface Moment {
	projectId: string
	automationId: string
	scheduledFor: string
	/** Of the schedule that has this time. Continued runs and those of an earlier release have none. */
	fingerprint?: string | undefined
}

export type Begun = RowOf<typeof insertEnrolment>

/**
 * The automation, if it still has a schedule, and the audience that was fixed by this enrolment's first
 * page. An enrolment begins only while its schedule is the present one. After that it goes on in any case.
 */
const findEnrolment = statement('find-enrolment', {
	params: {
		projectId: uuid,
		automationId: uuid,
		scheduledFor: timestamp,
		fingerprint: text.orNull,
	},
	row: {
		segmentId: uuid.orNull,
		audience: json<FrozenCondition>().orNull,
		after: uuid.orNull,
		createdAt: timestamp.orNull,
		endedAt: timestamp.orNull,
	},
	text: `select a.segment_id as "segmentId", e.audience, e.after, e.created_at as "createdAt", e.ended_at as "endedAt"
	from automations a join projects p on p.id = a.project_id
	left join enrolments e on e.project_id = a.project_id and e.automation_id = a.id
		and e.scheduled_for = $scheduledFor::timestamptz
	where a.project_id = $projectId and a.id = $automationId::uuid and a.enabled
		and a.trigger_type = 'SCHEDULE' and (e.created_at is not null or ${isOfPresentSchedule})
		and p.disabled_reason is null`,
})

/** If two first pages meet, the earlier one counts. The errors of earlier runs are over with this one. */
const insertEnrolment = statement('insert-enrolment', {
	params: {
		projectId: uuid,
		automationId: uuid,
		scheduledFor: timestamp,
		workflowId: text,
		audience: json<FrozenCondition>(),
	},
	row: {
		audience: json<FrozenCondition>(),
		after: uuid.orNull,
		createdAt: timestamp,
		endedAt: timestamp.orNull,
	},
	text: `with over as (
		update enrolments set error = null where project_id = $projectId and automation_id = $automationId::uuid
			and scheduled_for < $scheduledFor::timestamptz and error is not null
	)
	insert into enrolments as e (project_id, automation_id, scheduled_for, workflow_id, audience)
	values ($projectId, $automationId, $scheduledFor, $workflowId, $audience)
	on conflict (project_id, automation_id, scheduled_for) do update set workflow_id = $workflowId
	returning e.audience, e.after, e.created_at as "createdAt", e.ended_at as "endedAt"`,
})

/**
 * The audience of a scheduled run. It is fixed with the first page; later edits don't change it.
 * undefined: the automation was disabled, changed or deleted since, or this is a time of an earlier schedule.
 */
export async function enrolmentOf(
	pool: Pool,
	moment: Moment,
	workflowId: string,
): Promise<Begun | undefined> {
	const { projectId, fingerprint = null } = moment
	const [found] = await findEnrolment(pool, { ...moment, fingerprint })
	if (!found || found.audience) return begunOf(found)
	return transaction(pool, async (db) => {
		await lockReferences(db, { projectId })
		const [now] = await findEnrolment(db, { ...moment, fingerprint })
		if (!now) return undefined
		const audience = await (now.segmentId === null
			? freeze(db, projectId, null)
			: freezeMembers(db, projectId, now.segmentId))
		const [begun] = await insertEnrolment(db, { ...moment, workflowId, audience })
		return begun
	})
}

const begunOf = (found: RowOf<typeof findEnrolment> | undefined): Begun | undefined =>
	found?.audience && found.createdAt
		? { ...found, audience: found.audience, createdAt: found.createdAt }
		: undefined

/** Keeps an enrolment from ending while a page of it starts. No row: it has ended, or nothing more may start. */
export const holdEnrolment = statement('hold-enrolment', {
	params: { projectId: uuid, automationId: uuid, scheduledFor: timestamp },
	row: { scheduledFor: timestamp },
	text: `with automation as materialized (
		select 1 from automations
		where project_id = $projectId and id = $automationId::uuid and enabled and trigger_type = 'SCHEDULE'
		for key share
	)
	select scheduled_for as "scheduledFor" from enrolments
	where exists (select from automation) and project_id = $projectId and automation_id = $automationId::uuid
		and scheduled_for = $scheduledFor::timestamptz and ended_at is null
	for no key update`,
})

/** A late try doesn't reset the progress. */
export const recordEnrolled = statement('record-enrolled', {
	params: { projectId: uuid, automationId: uuid, scheduledFor: timestamp, contactId: uuid },
	text: `update enrolments set after = greatest(after, $contactId::uuid), updated_at = now()
	where project_id = $projectId and automation_id = $automationId::uuid
		and scheduled_for = $scheduledFor::timestamptz`,
})

/** All executions have started, or no more may start. */
export const endEnrolment = statement('end-enrolment', {
	params: { projectId: uuid, automationId: uuid, scheduledFor: timestamp },
	text: `update enrolments set ended_at = now(), updated_at = now()
	where project_id = $projectId and automation_id = $automationId::uuid
		and scheduled_for = $scheduledFor::timestamptz`,
})

/** Ends an enrolment that can't go on, unless it has already ended. */
export const failEnrolment = statement('fail-enrolment', {
	params: { projectId: uuid, automationId: uuid, scheduledFor: timestamp, error: text },
	text: `update enrolments set ended_at = now(), error = $error::text, updated_at = now()
	where project_id = $projectId and automation_id = $automationId::uuid
		and scheduled_for = $scheduledFor::timestamptz and ended_at is null`,
})

/** No row: no run has begun for at least a day. */
export const latestEnrolment = statement('latest-enrolment', {
	params: { projectId: uuid, automationId: uuid },
	row: { scheduledFor: timestamp, error: text.orNull },
	text: `select scheduled_for as "scheduledFor", error from enrolments
	where project_id = $projectId and automation_id = $automationId::uuid
	order by scheduled_for desc limit 1`,
})
