import { Context } from '@temporalio/activity'
import type { Pool } from 'pg'
import {
	type Begun,
	endEnrolment,
	enrolmentOf,
	type Moment,
	recordEnrolled,
} from '../../db/automations/enrolment-course.ts'
import { compileFrozen } from '../../db/conditions/frozen-condition.ts'
import { matchingAfter } from '../../db/contacts/matching-contacts.ts'
import { beginExecutions, lockContacts } from '../../db/executions/execution-beginning.ts'
import { always } from '../../db/sql.ts'
import { inChunk } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { permanently } from '../permanence.ts'

const pageSize = 500
const first = '00000000-0000-0000-0000-000000000000'

interface Page {
	projectId: string
	automationId: string
	scheduledFor: string
	/** The page starts after this contact. */
	after: string | null
}

export function enrolmentActivities({ pool, relay }: { pool: Pool; relay: { wake(): void } }) {
	return {
		/**
		 * Starts executions for the next contacts of a schedule's segment, or of the project. A second try finds
		 * the executions of the first try by their scheduled time. Progress is also stored in a row, in case
		 * Temporal loses the run.
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
	const moment: Moment = { projectId, automationId, scheduledFor }
	const begun = await enrolmentOf(pool, moment, workflowId)
	// The rest of this enrolment starts no executions, even if the automation is enabled again.
	if (!begun) {
		await endEnrolment(pool, moment)
		return { enrolled: 0, last: null }
	}
	if (begun.endedAt) return { enrolled: 0, last: null }
	const contacts = await audience(pool, projectId, begun, after ?? first)
	const last = contacts.at(pageSize - 1) ?? null
	const enrolled = await inChunk(pool, async (db) => {
		const locked = await lockContacts(db, { projectId, contactIds: contacts })
		const ids = locked.map(({ id }) => id)
		const rows = await beginExecutions(db, {
			projectId,
			automationId,
			contactIds: ids,
			context: {},
			scheduledFor,
			taskQueue: taskQueues.core,
		})
		if (last === null) await endEnrolment(db, moment)
		else await recordEnrolled(db, { ...moment, contactId: last })
		return rows.length
	})
	return { enrolled, last }
}

/** A page of the contacts in the schedule's audience. */
async function audience(
	pool: Pool,
	projectId: string,
	{ audience, createdAt }: Begun,
	after: string,
) {
	const isMeant = (await compileFrozen(pool, projectId, audience, createdAt)) ?? always
	return matchingAfter(pool, { projectId, after, limit: pageSize }, isMeant)
}
