import { Context } from '@temporalio/activity'
import type { Pool } from 'pg'
import {
	type Begun,
	endEnrolment,
	enrolmentOf,
	type Moment,
	noteEnrolled,
} from '../../db/automations/enrolment-course.ts'
import { compileFrozen } from '../../db/conditions/frozen-condition.ts'
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
		 * finds those that the first has begun by the moment they were begun for. How far it is stands in a
		 * row as well, for the case that Temporal forgets.
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
	const { workflowId } = Context.current().info.workflowExecution!
	const moment: Moment = [projectId, automationId, scheduledFor]
	const begun = await enrolmentOf(pool, moment, workflowId)
	// What is left of it begins nobody, should the automation be enabled again.
	if (!begun) {
		await endEnrolment(pool, moment)
		return { enrolled: 0, last: null }
	}
	if (begun.endedAt) return { enrolled: 0, last: null }
	const contacts = await audience(pool, projectId, begun, after ?? first)
	const last = contacts.at(pageSize - 1) ?? null
	const enrolled = await inChunk(pool, async (db) => {
		const locked = await lockContacts(db, [projectId, contacts])
		const ids = locked.map(({ id }) => id)
		const rows = await beginExecutions(db, [
			projectId,
			automationId,
			ids,
			'{}',
			scheduledFor,
			taskQueues.core,
		])
		if (last === null) await endEnrolment(db, moment)
		else await noteEnrolled(db, [...moment, last])
		return rows.length
	})
	return { enrolled, last }
}

/** A page of the contacts that it is for. */
async function audience(
	pool: Pool,
	projectId: string,
	{ audience, createdAt }: Begun,
	after: string,
) {
	const compiled = await compileFrozen(pool, projectId, audience, createdAt)
	const { rows } = await pool.query<{ id: string }>(
		`select c.id from contacts c
		where c.project_id = $1 and c.id > $2 and ${compiled?.sql('c', 4) ?? 'true'}
		order by c.id limit $3`,
		[projectId, after, pageSize, ...(compiled?.parameters ?? [])],
	)
	return rows.map(({ id }) => id)
}
