import type { Client } from '@temporalio/client'
import test, { type ExecutionContext } from 'ava'
import { enrolmentActivities } from '../activities/automations/enrolment.ts'
import { scheduleIdOf, syncSchedule } from '../db/automations/automation-schedules.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { mailStep, setupExecutions } from './helpers/executions.ts'
import { type MissedTimes, people, startBySchedule } from './helpers/schedule.ts'
import { withWorkers } from './helpers/workflow.ts'

/**
 * An automation with a schedule and contacts, of whom a turn enrols at most 500. Without a relay, Temporal's Schedule
 * changes only with `sync`.
 */
async function setup(t: ExecutionContext, contacts = 3) {
	const { pool, project, select, freeze } = await setupExecutions(t)
	const automationId = await freeze({ steps: [mailStep], reentry: true })
	const projectId = project.id
	await people(select, projectId, contacts)
	const services = { pool, relay: { wake() {} }, stopping: AbortSignal.abort() }
	const key = { projectId, automationId }
	// Runs that are triggered within one second have the same time.
	const forget = 'delete from executions; delete from enrolments'
	/** Changes the schedule, as if a minute ago. */
	const change = (changes: string) =>
		select(`update automations set ${changes};
			update automations set scheduled_since = now() - interval '1 minute'`)
	await change(`trigger_type = 'SCHEDULE', schedule = '0 5 1 1 *', timezone = 'UTC'`)

	const run = (work: (temporal: ReturnType<typeof on>) => Promise<void>) =>
		withWorkers(enrolmentActivities(services), (client) => work(on(client)))
	const on = (client: Client) => {
		const handle = client.schedule.getHandle(scheduleIdOf(automationId))
		async function started(missed?: MissedTimes) {
			const result = await startBySchedule(client, automationId, missed)
			await select(forget)
			return result
		}
		const sync = () => syncSchedule(pool, client, key, taskQueues.core)
		return { client, handle, started, sync }
	}
	return { select, change, key, run }
}

for (const [what, changed] of [
	['times', `schedule = '0 6 1 1 *'`],
	['time zone', `timezone = 'Europe/Berlin'`],
] as const)
	test(`a start at a time of an old schedule does nothing while Temporal does not know the new ${what}`, async (t) => {
		const { change, run } = await setup(t)
		await run(async ({ started, sync }) => {
			await sync()
			t.is(await started(), '3 executions started')
			await change(changed)
			t.is(await started(), '0 executions started')
			await sync()
			t.is(await started(), '3 executions started')
		})
	})

test('a time that passed before the present schedule began is not made up for by an old Schedule', async (t) => {
	const { select, run } = await setup(t)
	const time = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 300_000)
	const range = { start: new Date(time.getTime() - 1000), end: new Date(time.getTime() + 1000) }
	await select(`update automations set schedule = $1`, [`${time.getUTCMinutes()} * * * *`])
	await run(async ({ started, sync }) => {
		await sync()
		// Temporal is away from now on.
		await select('update automations set enabled = false')
		await select('update automations set enabled = true')
		t.is(await started(range), '0 executions started')
	})
})

test('an enrolment that has begun goes on when its schedule changes', async (t) => {
	const { select, key, run } = await setup(t, 600)
	await run(async ({ started, sync }) => {
		await sync()
		await select(`create function reschedule() returns trigger language plpgsql as $$
			begin update automations set schedule = '0 6 1 1 *'; return null; end $$`)
		await select(
			`create trigger reschedule after insert on enrolments execute function reschedule()`,
		)
		t.is(await started(), '600 executions started')
		t.like(await select('select schedule from automations where id = $1', [key.automationId]), [
			{ schedule: '0 6 1 1 *' },
		])
	})
})

test('a Schedule of an earlier release goes on to start executions, and is replaced', async (t) => {
	const { key, run } = await setup(t)
	await run(async ({ client, handle, started, sync }) => {
		await sync()
		const { action, spec, memo } = await handle.describe()
		await handle.delete()
		const { fingerprint, priority } = memo!
		await client.schedule.create({
			scheduleId: handle.scheduleId,
			spec: { cronExpressions: ['0 5 1 1 *'], timezone: spec.timezone! },
			action: { ...action, args: [key] },
			memo: { fingerprint, priority },
		})
		t.is(await started(), '3 executions started')
		await sync()
		t.like((await handle.describe()).action, { args: [{ ...key, fingerprint }] })
	})
})
