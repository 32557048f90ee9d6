import type { Pool } from 'pg'
import { compileFor } from '../../db/conditions/condition-segments.ts'
import type { Condition } from '../../db/conditions/condition.ts'
import { beginExecutions, lockContacts } from '../../db/executions/execution-beginning.ts'
import { inChunk } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { permanently } from '../permanence.ts'

const pageSize = 500
const first = '00000000-0000-0000-0000-000000000000'

interface Page {
	projectId: string
	automationId: string
	scheduledFor: string
	/** The contact after which to go on. */
	after: string | null
}

export function enrolmentActivities({ pool, relay }: { pool: Pool; relay: { wake(): void } }) {
	return {
		/**
		 * Begins executions for some more contacts of a schedule's segment, or of the project. A second try
		 * finds those that the first has begun by the moment they were begun for.
		 */
		enrolSome: (page: Page) =>
			permanently(async () => {
				const some = await enrolSome(pool, page)
				if (some.enrolled > 0) relay.wake()
				return some
			}),
	}
}

async function enrolSome(pool: Pool, { projectId, automationId, scheduledFor, after }: Page) {
	const {
		rows: [automation],
	} = await pool.query<{ segment_id: string | null }>(
		`select segment_id from automations join projects p on p.id = project_id
		where project_id = $1 and automations.id = $2 and enabled and trigger_type = 'SCHEDULE'
			and p.disabled_reason is null`,
		[projectId, automationId],
	)
	// Disabled, changed or deleted since.
	if (!automation) return { enrolled: 0, last: null }
	const contacts = await audience(pool, projectId, automation.segment_id, after ?? first)
	const begun = await inChunk(pool, async (db) => {
		const locked = await lockContacts(db, [projectId, contacts])
		const ids = locked.map(({ id }) => id)
		return beginExecutions(db, [projectId, automationId, ids, '{}', scheduledFor, taskQueues.core])
	})
	return { enrolled: begun.length, last: contacts.at(pageSize - 1) ?? null }
}

/** A page of a segment's members, of every contact where there is none. */
async function audience(pool: Pool, projectId: string, segmentId: string | null, after: string) {
	const condition: Condition = {
		logic: 'AND',
		groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOfSegment' }] }],
	}
	const compiled = segmentId === null ? null : await compileFor(pool, projectId, condition)
	const { rows } = await pool.query<{ id: string }>(
		`select c.id from contacts c
		where c.project_id = $1 and c.id > $2 and ${compiled?.sql('c', 4) ?? 'true'}
		order by c.id limit $3`,
		[projectId, after, pageSize, ...(compiled?.parameters ?? [])],
	)
	return rows.map(({ id }) => id)
}
