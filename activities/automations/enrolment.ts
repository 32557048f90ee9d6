import { ApplicationFailure, Context } from '@temporalio/activity'
import type { Pool } from 'pg'
import {
	type Begun,
	endEnrolment,
	enrolmentOf,
	failEnrolment,
	holdEnrolment,
	type Moment,
	recordEnrolled,
} from '../../db/automations/enrolment-course.ts'
import { compileFrozen } from '../../db/conditions/frozen-condition.ts'
import { matchingAfter } from '../../db/contacts/matching-contacts.ts'
import {
	beginExecutions,
	contactsThatMayEnter,
	lockContacts,
} from '../../db/executions/execution-beginning.ts'
import { createPager } from '../../db/pager.ts'
import { always } from '../../db/sql.ts'
import { readWithin } from '../../db/timed-reading.ts'
import { inChunk } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { takeJobTurn } from '../job-turns.ts'

const startedAtOnce = 500
/** Smaller and smaller pages are tried then, down to one contact. Temporal waits for all of them. */
const mostMsOfPage = 20_000
const nobody = '00000000-0000-0000-0000-000000000000'

interface EnrolmentServices {
	pool: Pool
	relay: { wake(): void }
	stopping: AbortSignal
}

interface Turn extends Moment {
	/** The turn starts after this contact. */
	after: string | null
}

/** `last`: the next turn starts after this contact; null: the enrolment has ended. */
interface Rest {
	enrolled: number
	last: string | null
}

export function enrolmentActivities(services: EnrolmentServices, mostMs = mostMsOfPage) {
	return {
		/**
		 * Starts executions for contacts of a schedule's segment, or of the project, until its turn is over. A second
		 * try finds the executions of the first try by their scheduled time. Progress is also stored in a row, in
		 * case Temporal loses the run. An audience that takes too long ends the enrolment, and the run fails.
		 */
		enrolSome: (turn: Turn): Promise<Rest> =>
			takeJobTurn(services.stopping, true, (isOver) => enrolSome(services, turn, mostMs, isOver)),
	}
}

async function enrolSome(
	{ pool, relay }: EnrolmentServices,
	{ after, ...moment }: Turn,
	mostMs: number,
	isOver: () => boolean,
): Promise<Rest> {
	const { workflowId } = Context.current().info.workflowExecution!
	const nextPage = createPager()
	let [enrolled, last] = [0, after ?? nobody]
	for (;;) {
		const begun = await enrolmentOf(pool, moment, workflowId)
		// The rest of this enrolment starts no executions, even if the automation is enabled again.
		if (!begun) await endEnrolment(pool, moment)
		if (!begun || begun.endedAt) return { enrolled, last: null }
		// An earlier try may have come further.
		if (begun.after !== null && begun.after > last) last = begun.after
		const page = await nextPage((contacts) => readPage(pool, moment, begun, last, contacts, mostMs))
		if (!page) return fail(pool, moment, 'The audience takes too long to evaluate')
		for (let from = 0; from === 0 || from < page.ids.length; from += startedAtOnce) {
			const contactIds = page.ids.slice(from, from + startedAtOnce)
			const isRest = from + startedAtOnce >= page.ids.length
			const until = isRest ? page.last : contactIds.at(-1)!
			const started = await enrol(pool, moment, contactIds, until)
			if (started === null) break
			if (started > 0) relay.wake()
			enrolled += started
			if (until === null) return { enrolled, last: null }
			last = until
			if (isOver()) return { enrolled, last }
		}
	}
}

/** A retry would fail again. The row keeps the reason for the automation's warnings, Temporal shows it at the run. */
async function fail(pool: Pool, moment: Moment, error: string): Promise<never> {
	await failEnrolment(pool, { ...moment, error })
	throw ApplicationFailure.nonRetryable(error)
}

/** Those of the next contacts who are in the schedule's audience and may enter. null: it takes too long. */
const readPage = (
	pool: Pool,
	{ projectId, automationId }: Moment,
	{ audience, createdAt }: Begun,
	after: string,
	contacts: number,
	mostMs: number,
) =>
	readWithin(pool, mostMs, async (db) => {
		const isMeant = (await compileFrozen(db, projectId, audience, createdAt)) ?? always
		const part = { projectId, after, createdUntil: createdAt, contacts }
		const { ids, last } = await matchingAfter(db, part, isMeant)
		const entering = await contactsThatMayEnter(db, { projectId, automationId, contactIds: ids })
		return { ids: entering.map(({ id }) => id), last }
	})

/** `until`: all contacts up to this one are done; null: all contacts are. Resolves to null if no more may start. */
const enrol = (pool: Pool, moment: Moment, contactIds: string[], until: string | null) =>
	inChunk(pool, async (db) => {
		const { projectId, automationId, scheduledFor } = moment
		const locked = await lockContacts(db, { projectId, contactIds })
		if ((await holdEnrolment(db, moment)).length === 0) return null
		const rows = await beginExecutions(db, {
			projectId,
			automationId,
			contactIds: locked.map(({ id }) => id),
			context: {},
			scheduledFor,
			taskQueue: taskQueues.core,
		})
		if (until === null) await endEnrolment(db, moment)
		else await recordEnrolled(db, { ...moment, contactId: until })
		return rows.length
	})
