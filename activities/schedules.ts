import {
	type Client,
	ScheduleAlreadyRunning,
	type ScheduleOptions,
	type ScheduleSpec,
	ScheduleOverlapPolicy,
} from '@temporalio/client'
import { taskQueues } from '../workflows/task-queues.ts'

type Interval = NonNullable<ScheduleSpec['intervals']>[number]
interface Timed extends Interval {
	id: string
	workflowType: string
}

/** The workflows that run on a schedule. None of them overlaps with itself. */
const schedules: Timed[] = [
	{ id: 'domain-sweep', workflowType: 'domainSweep', every: '5 minutes' },
	{ id: 'housekeeping', workflowType: 'housekeeping', every: '10 minutes' },
	{ id: 'provider-event-sweep', workflowType: 'providerEventSweep', every: '1 minute' },
	{ id: 'segment-sweep', workflowType: 'segmentSweep', every: '5 minutes' },
	// Within the hour in which Stripe still accepts usage for last month's invoices.
	{ id: 'usage-reporting', workflowType: 'usageReporting', every: '1 hour', offset: '5 minutes' },
]

const optionsOf = ({ id, workflowType, ...interval }: Timed): ScheduleOptions => ({
	scheduleId: id,
	spec: { intervals: [interval] },
	policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
	action: {
		type: 'startWorkflow',
		workflowType,
		workflowId: id,
		taskQueue: taskQueues.core,
		args: [],
	},
})

type Schedules = Pick<Client, 'schedule'>

/** The first worker creates the Schedules; later ones bring them up to date. */
export async function ensureSchedules({ schedule }: Schedules) {
	for (const timed of schedules) {
		const options = optionsOf(timed)
		if (await isNew(schedule, options)) continue
		const { spec, policies, action } = options
		// An operator may have paused it, so its state is kept.
		await schedule
			.getHandle(timed.id)
			.update(({ state }) => ({ state, spec, policies: policies!, action: action as never }))
	}
}

/** Returns how many there were not. */
export async function createMissingSchedules({ schedule }: Schedules) {
	const created = await Promise.all(schedules.map((timed) => isNew(schedule, optionsOf(timed))))
	return created.filter(Boolean).length
}

/** Creates it, unless it exists. */
async function isNew(schedule: Client['schedule'], options: ScheduleOptions) {
	try {
		await schedule.create(options)
		return true
	} catch (error) {
		if (error instanceof ScheduleAlreadyRunning) return false
		throw error
	}
}
