import { type Client, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client'
import { ScheduleAlreadyRunning } from '@temporalio/client'
import type { Pool } from 'pg'
import { priorities } from '../outbox/outbox.ts'
import { keywords } from '../outbox/search-attributes.ts'
import { statement } from '../statement.ts'

// The Schedules of automations follow their rows. A row that changes leaves an entry in the outbox, and
// whoever handles it looks at the row again: so it does not matter how late it comes, or how often.

export interface AutomationKey {
	projectId: string
	automationId: string
}

interface Wanted {
	name: string
	schedule: string
	timezone: string
}

type Services = Pick<Client, 'schedule'>

const prefix = 'enrol/'
export const scheduleIdOf = (automationId: string) => prefix + automationId

/** No row: it is to have no Schedule. $1 project, $2 automation */
const wantedSchedule = statement<Wanted>(
	'wanted-schedule',
	`select name, schedule, coalesce(timezone, 'UTC') as timezone from automations
	where project_id = $1 and id = $2::uuid and enabled and trigger_type = 'SCHEDULE'`,
)

const allWanted = statement<Wanted & AutomationKey>(
	'wanted-schedules',
	`select project_id as "projectId", id as "automationId", name, schedule,
		coalesce(timezone, 'UTC') as timezone
	from automations where enabled and trigger_type = 'SCHEDULE'`,
)

/** Makes Temporal's Schedule what the row says, and looks whether it has said so all the while. */
export async function syncSchedule(
	pool: Pool,
	temporal: Services,
	key: AutomationKey,
	taskQueue: string,
): Promise<void> {
	const read = () => wantedSchedule(pool, [key.projectId, key.automationId])
	for (let [wanted] = await read(); ;) {
		if (wanted) await put(temporal, key, wanted, taskQueue)
		else await remove(temporal, scheduleIdOf(key.automationId))
		const [now] = await read()
		// Another change, handled beside us, may have been overwritten by ours.
		if (fingerprint(now) === fingerprint(wanted)) return
		wanted = now
	}
}

/** Compares all rows with all Schedules, as after a loss on either side; answers how many differed. */
export async function reconcileSchedules(pool: Pool, temporal: Services, taskQueue: string) {
	const known = new Map<string, unknown>()
	for await (const { scheduleId, memo } of temporal.schedule.list())
		if (scheduleId.startsWith(prefix)) known.set(scheduleId, memo?.['fingerprint'])
	let differed = 0
	for (const wanted of await allWanted(pool, [])) {
		const id = scheduleIdOf(wanted.automationId)
		const isSame = known.get(id) === fingerprint(wanted)
		known.delete(id)
		if (isSame) continue
		differed += 1
		await syncSchedule(pool, temporal, wanted, taskQueue)
	}
	// What is left belongs to no row that wants it.
	for (const id of known.keys()) {
		differed += 1
		const { rows } = await pool.query<AutomationKey>(
			`select project_id as "projectId", id as "automationId" from automations where id::text = $1`,
			[id.slice(prefix.length)],
		)
		if (rows[0]) await syncSchedule(pool, temporal, rows[0], taskQueue)
		else await remove(temporal, id)
	}
	return differed
}

const fingerprint = (wanted: Wanted | undefined) =>
	wanted === undefined ? undefined : `${wanted.schedule} ${wanted.timezone}`

async function put({ schedule }: Services, key: AutomationKey, wanted: Wanted, taskQueue: string) {
	const scheduleId = scheduleIdOf(key.automationId)
	const options = {
		spec: { cronExpressions: [wanted.schedule], timezone: wanted.timezone },
		// A day's outage is made up for, once.
		policies: { overlap: ScheduleOverlapPolicy.BUFFER_ONE, catchupWindow: '1 day' as const },
		action: {
			type: 'startWorkflow' as const,
			workflowType: 'enrol',
			workflowId: scheduleId,
			taskQueue,
			args: [key],
			staticSummary: `${wanted.name}: ${wanted.schedule} ${wanted.timezone}`,
			priority: { priorityKey: priorities.automation, fairnessKey: key.projectId },
			typedSearchAttributes: keywords({
				ProjectId: key.projectId,
				AutomationId: key.automationId,
			}),
		},
	}
	// Its memo cannot be changed, and it is by the memo that a difference is seen.
	await remove({ schedule }, scheduleId, wanted)
	try {
		await schedule.create({ ...options, scheduleId, memo: { fingerprint: fingerprint(wanted) } })
	} catch (error) {
		// Somebody else has made it: what it says is looked at by the next comparison.
		if (!(error instanceof ScheduleAlreadyRunning)) throw error
	}
}

/** Unless it is what is wanted, in which case a run that waits in it goes on waiting. */
async function remove({ schedule }: Services, id: string, wanted?: Wanted) {
	const handle = schedule.getHandle(id)
	try {
		if (wanted && (await handle.describe()).memo?.['fingerprint'] === fingerprint(wanted)) return
		await handle.delete()
	} catch (error) {
		if (!(error instanceof ScheduleNotFoundError)) throw error
	}
}
