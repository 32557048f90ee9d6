import type { Pool } from 'pg'
import { membersOf } from '../conditions/condition.ts'
import { type FrozenCondition, freeze } from '../conditions/frozen-condition.ts'
import { lockReferences } from '../segments/segment-records.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'

/** Of a schedule: project, automation, when. */
export type Moment = [projectId: string, automationId: string, scheduledFor: string]

export interface Begun {
	audience: FrozenCondition
	createdAt: Date
	endedAt: Date | null
}

/**
 * The automation, if it still begins anybody by the clock, and what this moment has meant from its
 * first page on. $1 project, $2 automation, $3 moment
 */
const findEnrolment = statement<{ segmentId: string | null } & (Begun | { audience: null })>(
	'find-enrolment',
	`select a.segment_id as "segmentId", e.audience, e.created_at as "createdAt", e.ended_at as "endedAt"
	from automations a join projects p on p.id = a.project_id
	left join enrolments e on e.project_id = a.project_id and e.automation_id = a.id
		and e.scheduled_for = $3::timestamptz
	where a.project_id = $1 and a.id = $2::uuid and a.enabled and a.trigger_type = 'SCHEDULE'
		and p.disabled_reason is null`,
)

/** Of two first pages the earlier counts. $1 project, $2 automation, $3 moment, $4 run, $5 audience */
const insertEnrolment = statement<Begun>(
	'insert-enrolment',
	`insert into enrolments as e (project_id, automation_id, scheduled_for, workflow_id, audience)
	values ($1, $2, $3, $4, $5)
	on conflict (project_id, automation_id, scheduled_for) do update set workflow_id = $4
	returning e.audience, e.created_at as "createdAt", e.ended_at as "endedAt"`,
)

/**
 * Whom a moment of a schedule is for: whatever is edited after its first page, it is for no others.
 * undefined: the automation was disabled, changed or deleted since.
 */
export async function enrolmentOf(
	pool: Pool,
	moment: Moment,
	workflowId: string,
): Promise<Begun | undefined> {
	const [projectId] = moment
	const [found] = await findEnrolment(pool, moment)
	if (!found || found.audience) return found
	return transaction(pool, async (db) => {
		await lockReferences(db, [projectId])
		const [now] = await findEnrolment(db, moment)
		if (!now) return undefined
		const members = now.segmentId === null ? null : membersOf(now.segmentId)
		const audience = await freeze(db, projectId, members)
		const [begun] = await insertEnrolment(db, [...moment, workflowId, JSON.stringify(audience)])
		return begun
	})
}

/** A try that comes late takes nothing back. $1 project, $2 automation, $3 moment, $4 contact */
export const noteEnrolled = statement(
	'note-enrolled',
	`update enrolments set after = greatest(after, $4::uuid), updated_at = now()
	where project_id = $1 and automation_id = $2::uuid and scheduled_for = $3::timestamptz`,
)

/** Everybody has begun, or nobody does any more. $1 project, $2 automation, $3 moment */
export const endEnrolment = statement(
	'end-enrolment',
	`update enrolments set ended_at = now(), updated_at = now()
	where project_id = $1 and automation_id = $2::uuid and scheduled_for = $3::timestamptz`,
)
