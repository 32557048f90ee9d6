import { Client, Connection } from '@temporalio/client'
import test from 'ava'
import { compare } from '../activities/temporal-keeping.ts'
import { newNamespace } from '../bench/namespace.ts'
import { reconcileSchedules } from '../db/automations/automation-schedules.ts'
import { overdueExecutions, restartExecutions } from '../db/executions/lost-executions.ts'
import { searchAttributes } from '../db/outbox/search-attributes.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { byClock, people, setupSchedule } from './helpers/schedule.ts'

test('a Schedule is created, changed and deleted with the row of its automation', async (t) => {
	const { select, known, handle } = await setupSchedule(t)
	t.is(await known(), null)
	await select(byClock)
	t.is(await known(), '30 9 * * 1 Europe/Berlin')
	const { action, spec } = await handle.describe()
	t.like(action, { type: 'startWorkflow', workflowType: 'enrol', taskQueue: 'core' })
	t.is(spec.timezone, 'Europe/Berlin')
	await select(`update automations set schedule = '0 8 * * *'`)
	t.is(await known(), '0 8 * * * Europe/Berlin')
	await select('update automations set enabled = false')
	t.is(await known(), null)
	await select('update automations set enabled = true')
	t.is(await known(), '0 8 * * * Europe/Berlin')
	await select('delete from automations')
	t.is(await known(), null)
})

test('after a loss on either side all Schedules match the rows again', async (t) => {
	const { select, known, handle, client, pool, untilListed } = await setupSchedule(t)
	await select(byClock)
	await known()
	await handle.delete()
	await untilListed(0)
	t.is(await reconcileSchedules(pool, client, taskQueues.core), 1)
	t.is(await known(), '30 9 * * 1 Europe/Berlin')
	await untilListed(1)
	t.is(await reconcileSchedules(pool, client, taskQueues.core), 0)
	await select('alter table automations disable trigger user')
	await select('update automations set enabled = false')
	t.is(await reconcileSchedules(pool, client, taskQueues.core), 1)
	t.is(await known(), null)
})

test('enrolments have the priority of other bulk work, also by Schedules of an earlier release', async (t) => {
	const { project, select, known, handle, client, pool, untilListed } = await setupSchedule(t)
	const priority = async () => {
		const { schedule } = (await handle.describe()).raw
		return schedule!.action!.startWorkflow!.priority
	}
	await select(byClock)
	await known()
	t.like(await priority(), { priorityKey: 5, fairnessKey: project.id })
	const { action, spec, memo } = await handle.describe()
	const earlier = { ...action, args: [], priority: { priorityKey: 3, fairnessKey: project.id } }
	await handle.delete()
	await untilListed(0)
	await client.schedule.create({
		scheduleId: handle.scheduleId,
		spec: { cronExpressions: ['30 9 * * 1'], timezone: spec.timezone! },
		action: earlier,
		memo: { fingerprint: memo!['fingerprint'] },
	})
	await untilListed(1)
	t.is(await reconcileSchedules(pool, client, taskQueues.core), 1)
	t.like(await priority(), { priorityKey: 5 })
})

test('Temporal that has lost them gets its search attributes and our Schedules again', async (t) => {
	const { pool } = await setupSchedule(t)
	const address = process.env['TEMPORAL_ADDRESS']!
	const namespace = await newNamespace(address, ['WaitingSince'])
	const temporal = new Client({ connection: await Connection.connect({ address }), namespace })
	t.teardown(() => temporal.connection.close())
	const said: string[] = []
	const log = { warn: (_: object, message: string) => void said.push(message) }
	await compare({ pool, temporal, log, registers: true })
	const { customAttributes } = await temporal.connection.operatorService.listSearchAttributes({
		namespace,
	})
	t.true(Object.keys(searchAttributes).every((name) => name in customAttributes))
	const housekeeping = temporal.schedule.getHandle('housekeeping')
	t.like((await housekeeping.describe()).action, { workflowType: 'housekeeping' })
	await housekeeping.delete()
	await compare({ pool, temporal, log, registers: true })
	t.like((await housekeeping.describe()).action, { workflowType: 'housekeeping' })
	t.is(said.length, 2)
	await compare({ pool, temporal, log, registers: true })
	t.is(said.length, 2)
})

const hourMs = 3_600_000

for (const [since, changedBefore, hasEnrolled, hours] of [
	['the last change', '100 minutes', false, 1],
	['the last enrolment', '3 days', true, 0],
	['a day ago', '3 days', false, 23],
] as const)
	test(`scheduled times that passed while Temporal had lost a Schedule are made up for, since ${since}`, async (t) => {
		const { select, known, handle, client, pool, untilListed, firstRun } = await setupSchedule(t)
		const latest = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 300_000)
		const before = (count: number) => new Date(latest.getTime() - count * hourMs)
		await select(
			`update automations set trigger_type = 'SCHEDULE', event_name = null, schedule = $1,
				updated_at = now()`,
			[`${latest.getUTCMinutes()} * * * *`],
		)
		await known()
		if (hasEnrolled)
			await select(
				`insert into enrolments (project_id, automation_id, scheduled_for, workflow_id, audience)
				select project_id, id, $1, 'enrol', '{}' from automations`,
				[before(1)],
			)
		await select('update automations set scheduled_since = now() - $1::interval', [changedBefore])
		await handle.delete()
		await untilListed(0)
		await reconcileSchedules(pool, client, taskQueues.core)
		t.deepEqual(await firstRun(), before(hours))
	})

test('scheduled times that passed while a new schedule waited for Temporal are made up for, whatever else was edited', async (t) => {
	const { select, known, firstRun } = await setupSchedule(t)
	const missed = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 300_000)
	// One transaction: the relay sees a change of a hundred minutes ago.
	await select(`update automations set trigger_type = 'SCHEDULE', event_name = null, updated_at = now(),
			schedule = '${missed.getUTCMinutes()} * * * *';
		update automations set scheduled_since = now() - interval '100 minutes'`)
	await known()
	t.deepEqual(await firstRun(), new Date(missed.getTime() - hourMs))
})

test('an overdue execution is found, a sleeping one is left alone', async (t) => {
	const { pool, select, automationId, project, outbox } = await setupSchedule(t)
	await people(select, project.id, 4)
	await select(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status, due_at)
		select $1, $2, 1, id, false, case n when 1 then 'RUNNING' when 4 then 'COMPLETED' else 'WAITING' end,
			now() + case n when 1 then interval '-3 minutes' when 2 then interval '1 year' end
		from (select id, row_number() over () as n from contacts) c`,
		[project.id, automationId],
	)
	const overdue = await overdueExecutions(pool, { limit: 100 })
	t.is(overdue.length, 1)
	t.deepEqual(await overdueExecutions(pool, { limit: 100 }), [])
	await restartExecutions(pool, { runs: overdue, taskQueue: taskQueues.core })
	const starts = await outbox('start')
	t.deepEqual(
		starts.map(({ workflow_id }) => workflow_id),
		[`automation/${overdue[0]!.id}`],
	)
})
