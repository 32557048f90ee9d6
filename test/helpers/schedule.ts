import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Connection, ScheduleNotFoundError } from '@temporalio/client'
import type { ExecutionContext } from 'ava'
import { newNamespace } from '../../bench/namespace.ts'
import { scheduleIdOf } from '../../db/automations/automation-schedules.ts'
import { startRelay } from '../../db/outbox/relay.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { mailStep, setupExecutions } from './executions.ts'

export const byClock = `update automations set trigger_type = 'SCHEDULE', schedule = '30 9 * * 1',
	timezone = 'Europe/Berlin', event_name = null`

/** An automation with a schedule, and Temporal without a worker. */
export async function setupSchedule(t: ExecutionContext) {
	const context = await setupExecutions(t)
	const automationId = await context.freeze({ steps: [mailStep] })
	const address = process.env['TEMPORAL_ADDRESS']!
	const namespace = await newNamespace(address)
	const client = new Client({ connection: await Connection.connect({ address }), namespace })
	const log = { warn: (fields: object, message: string) => t.log(message, fields) }
	const relay = startRelay({
		pool: context.pool,
		temporal: client,
		workflowTaskQueue: taskQueues.core,
		log,
	})
	t.teardown(() => client.connection.close())
	t.teardown(() => relay.stop())
	const handle = client.schedule.getHandle(scheduleIdOf(automationId))

	/** Temporal's Schedules after the relay has handled the whole outbox. */
	async function known() {
		relay.wake()
		const waiting = `select from outbox where kind = 'schedule' and done_at is null`
		for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(20))
			if ((await context.select(waiting)).length === 0) break
		try {
			const { memo } = await handle.describe()
			return memo?.['fingerprint']
		} catch (error) {
			if (error instanceof ScheduleNotFoundError) return null
			throw error
		}
	}
	/** Temporal's list of Schedules is updated with a delay. */
	async function untilListed(count: number) {
		for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(100)) {
			let listed = 0
			for await (const _ of client.schedule.list()) listed += 1
			if (listed === count) return
		}
		t.fail(`${count} Schedules were to be listed`)
	}
	/** The scheduled time of the first run that Temporal started. */
	async function firstRun() {
		const first = async () => (await handle.describe()).info.recentActions.at(0)
		for (const deadline = Date.now() + 20_000; Date.now() < deadline; await sleep(100))
			if (await first()) break
		return (await first())?.scheduledAt
	}
	return { ...context, automationId, client, handle, known, untilListed, firstRun }
}

type Select = Awaited<ReturnType<typeof setupExecutions>>['select']

export const people = (select: Select, projectId: string, count: number) =>
	select(
		`insert into contacts (project_id, email, subscribed)
		select $1, n || '@example.org', true from generate_series(1, $2::int) n`,
		[projectId, count],
	)

export type MissedTimes = { start: Date; end: Date }

/** The result of a run that Temporal's Schedule starts now, or would have started in a range of time. */
export async function startBySchedule(
	{ schedule, workflow }: Client,
	automationId: string,
	missed?: MissedTimes,
): Promise<unknown> {
	const handle = schedule.getHandle(scheduleIdOf(automationId))
	const recent = async () => (await handle.describe()).info.recentActions
	const before = (await recent()).length
	await (missed ? handle.backfill(missed) : handle.trigger())
	while ((await recent()).length === before) await sleep(50)
	const { workflowId, firstExecutionRunId } = (await recent()).at(-1)!.action.workflow
	return workflow.getHandle(workflowId, firstExecutionRunId).result()
}
