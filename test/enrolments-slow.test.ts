import { WorkflowFailedError } from '@temporalio/client'
import test from 'ava'
import { enrolmentActivities } from '../activities/automations/enrolment.ts'
import { chores } from '../db/housekeeping.ts'
import { syncSchedule } from '../db/automations/automation-schedules.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { openAutomations } from './helpers/automations.ts'
import { people, startBySchedule } from './helpers/schedule.ts'
import { withWorkers } from './helpers/workflow.ts'

test('a scheduled run whose audience takes too long fails, and its workflow warns of it until the next run', async (t) => {
	const { create, ok, pool, project } = await openAutomations(t)
	const select = async (sql: string, values: unknown[] = []) => (await pool.query(sql, values)).rows
	const { id, step } = await create()
	await step('EXIT')
	const triggerConfig = { schedule: '0 5 1 1 *' }
	await ok('PATCH', `/${id}`, { triggerType: 'SCHEDULE', triggerConfig, enabled: true })
	await select(`update automations set scheduled_since = now() - interval '1 minute'`)
	await people(select, project.id, 3)
	const warnings = async () => {
		const check = await ok('POST', `/${id}/validate`)
		return check.warnings.map(({ name, message }: { name: string; message: string }) => [
			name,
			message,
		])
	}
	const services = { pool, relay: { wake() {} }, stopping: new AbortController().signal }
	const mostMsOfPage = 500

	await withWorkers(enrolmentActivities(services, mostMsOfPage), async (client) => {
		await syncSchedule(pool, client, { projectId: project.id, automationId: id }, taskQueues.core)
		const holder = await pool.connect()
		t.teardown(() => holder.release(true))
		await holder.query('begin; lock table contacts in access exclusive mode')
		await t.throwsAsync(startBySchedule(client, id), { instanceOf: WorkflowFailedError })
		await holder.query('commit')
		const [enrolment] = await select('select scheduled_for, ended_at from enrolments')
		t.not(enrolment.ended_at, null)
		t.deepEqual(await warnings(), [
			[
				'Trigger',
				`The scheduled run of ${new Date(enrolment.scheduled_for).toISOString()} ended before it had started executions for all contacts: The audience takes too long to evaluate`,
			],
		])
		t.is(await startBySchedule(client, id), '3 executions started')
		t.deepEqual(await warnings(), [])
		await select(`update enrolments set ended_at = ended_at - interval '2 days'`)
		for (const { remove } of chores) await remove(pool, 100, 90)
		t.deepEqual(await warnings(), [])
	})
})
