import { type Client, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client'
import { ScheduleAlreadyRunning } from '@temporalio/client'
import type { Pool } from 'pg'
import { priorities } from '../outbox/outbox.ts'
import { keywords } from '../outbox/search-attributes.ts'
import { type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// The Schedules of automations follow their rows. A changed row leaves an outbox entry, and its handler
// reads the row again, so it doesn't matter how late or how often it runs.

const automationKeyColumns = { projectId: uuid, automationId: uuid }
export type AutomationKey = RowOf<typeof automationKeyColumns>

const wantedColumns = {
	name: text,
	schedule: text.notNull('triggers of the type SCHEDULE have one'),
	timezone: text,
	fingerprint: text,
	/** From here on no time of this schedule has an enrolment. Times of more than a day ago are not made up for. */
	missedSince: timestamp,
}
type Wanted = RowOf<typeof wantedColumns>

type Services = Pick<Client, 'schedule'>

const prefix = 'enrol/'
export const scheduleIdOf = (automationId: string) => prefix + automationId

/** Changes whenever the times of an automation `a` change. */
const fingerprint = `a.schedule || ' ' || coalesce(a.timezone, 'UTC')`

/**
 * Whether `$scheduledFor` is a time of the present schedule of `a`. Temporal also starts runs at times of an earlier
 * schedule, until it has received the change. Runs that an earlier release scheduled have no fingerprint.
 */
export const isOfPresentSchedule = `($fingerprint::text is null
	or $fingerprint = ${fingerprint} and a.scheduled_since <= $scheduledFor::timestamptz)`

const wanted = `a.name, a.schedule, coalesce(a.timezone, 'UTC') as timezone, ${fingerprint} as fingerprint,
	greatest(a.scheduled_since, now() - interval '1 day', (
		select max(scheduled_for) + interval '1 second' from enrolments
		where project_id = a.project_id and automation_id = a.id)) as "missedSince"`

/** No row: the automation should have no Schedule. */
const wantedSchedule = statement('wanted-schedule', {
	params: automationKeyColumns,
	row: wantedColumns,
	text: `select ${wanted} from automations a
	where project_id = $projectId and id = $automationId::uuid and enabled
		and trigger_type = 'SCHEDULE'`,
})

const allWanted = statement('wanted-schedules', {
	params: {},
	row: { ...wantedColumns, ...automationKeyColumns },
	text: `select project_id as "projectId", id as "automationId", ${wanted}
	from automations a where enabled and trigger_type = 'SCHEDULE'`,
})

const automationOfSchedule = statement('automation-of-schedule', {
	params: { id: text },
	row: automationKeyColumns,
	text: `select project_id as "projectId", id as "automationId" from automations where id::text = $id`,
})

/** Updates Temporal's Schedule from the row, and repeats if the row has changed meanwhile. */
export async function syncSchedule(
	pool: Pool,
	temporal: Services,
	key: AutomationKey,
	taskQueue: string,
): Promise<void> {
	const read = () =>
		wantedSchedule(pool, { projectId: key.projectId, automationId: key.automationId })
	for (let [wanted] = await read(); ;) {
		if (wanted) await put(temporal, key, wanted, taskQueue)
		else await remove(temporal, scheduleIdOf(key.automationId))
		const [now] = await read()
		// We may have overwritten another change that was handled at the same time.
		if (now?.fingerprint === wanted?.fingerprint) return
		wanted = now
	}
}

/** Compares all rows with all Schedules, as after a loss on either side. Returns how many differed. */
export async function reconcileSchedules(pool: Pool, temporal: Services, taskQueue: string) {
	const known = new Map<string, Memo>()
	for await (const { scheduleId, memo } of temporal.schedule.list())
		if (scheduleId.startsWith(prefix)) known.set(scheduleId, memo)
	let differed = 0
	for (const wanted of await allWanted(pool)) {
		const id = scheduleIdOf(wanted.automationId)
		const isSame = isCurrent(known.get(id), wanted)
		known.delete(id)
		if (isSame) continue
		differed += 1
		await syncSchedule(pool, temporal, wanted, taskQueue)
	}
	// The remaining Schedules belong to no row that needs them.
	for (const id of known.keys()) {
		differed += 1
		const [key] = await automationOfSchedule(pool, { id: id.slice(prefix.length) })
		if (key) await syncSchedule(pool, temporal, key, taskQueue)
		else await remove(temporal, id)
	}
	return differed
}

/** Fair turns are among runs of one priority. This work keeps a worker as busy as other bulk work. */
const priorityKey = priorities.bulk

const minuteOf = (time: Date) => Math.floor(time.getTime() / 60_000)

type Memo = Record<string, unknown> | undefined

const memoOf = ({ fingerprint }: Wanted) => ({
	fingerprint,
	priority: priorityKey,
	passesFingerprint: true,
})

/**
 * Schedules of earlier releases have another priority, or do not pass the fingerprint to their runs. Processes of those
 * releases ignore members of the memo that they don't know.
 */
const isCurrent = (memo: Memo, wanted: Wanted) =>
	Object.entries(memoOf(wanted)).every(([name, value]) => memo?.[name] === value)

async function put({ schedule }: Services, key: AutomationKey, wanted: Wanted, taskQueue: string) {
	const scheduleId = scheduleIdOf(key.automationId)
	const options = {
		spec: { cronExpressions: [wanted.schedule], timezone: wanted.timezone },
		// Runs missed during up to a day of downtime are made up for, once.
		policies: { overlap: ScheduleOverlapPolicy.BUFFER_ONE, catchupWindow: '1 day' as const },
		action: {
			type: 'startWorkflow' as const,
			workflowType: 'enrol',
			workflowId: scheduleId,
			taskQueue,
			args: [{ ...key, fingerprint: wanted.fingerprint }],
			staticSummary: `${wanted.name}: ${wanted.schedule} ${wanted.timezone}`,
			priority: { priorityKey, fairnessKey: key.projectId },
			typedSearchAttributes: keywords({
				ProjectId: key.projectId,
				AutomationId: key.automationId,
			}),
		},
	}
	// A memo can't be changed, but differences are detected by it, so the Schedule is replaced.
	await remove({ schedule }, scheduleId, wanted)
	// Temporal may have been away for a while, or have lost the Schedule. A time that was met after all is harmless: each
	// of its contacts is enrolled once.
	const missed = { start: wanted.missedSince, end: new Date() }
	try {
		const handle = await schedule.create({
			...options,
			...(missed.start < missed.end && { state: { backfill: [missed] } }),
			scheduleId,
			memo: memoOf(wanted),
		})
		// Times are whole minutes. One that came while Temporal created the Schedule is in neither.
		const now = new Date()
		if (minuteOf(missed.end) < minuteOf(now)) await handle.backfill({ start: missed.end, end: now })
	} catch (error) {
		// Another process has created it; the next comparison checks its content.
		if (!(error instanceof ScheduleAlreadyRunning)) throw error
	}
}

/** Keeps the Schedule if it is the wanted one, because a run may be waiting in it. */
async function remove({ schedule }: Services, id: string, wanted?: Wanted) {
	const handle = schedule.getHandle(id)
	try {
		if (wanted && isCurrent((await handle.describe()).memo, wanted)) return
		await handle.delete()
	} catch (error) {
		if (!(error instanceof ScheduleNotFoundError)) throw error
	}
}
