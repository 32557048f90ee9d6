import { Client, Connection } from '@temporalio/client'
import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { enrolmentActivities } from '../activities/automations/enrolment.ts'
import { compare } from '../activities/temporal-keeping.ts'
import { newNamespace } from '../bench/namespace.ts'
import { reconcileSchedules } from '../db/automations/automation-schedules.ts'
import { restartEnrolments, unfinishedEnrolments } from '../db/automations/lost-enrolments.ts'
import { overdueExecutions, restartExecutions } from '../db/executions/lost-executions.ts'
import { searchAttributes } from '../db/outbox/search-attributes.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { lookForLost } from './helpers/forgetful.ts'
import { people, setupSchedule } from './helpers/schedule.ts'

const byClock = `update automations set trigger_type = 'SCHEDULE', schedule = '30 9 * * 1',
	timezone = 'Europe/Berlin', event_name = null`

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

test('a scheduled time enrols each contact once, however often it is repeated', async (t) => {
	const { pool, select, automationId, project, executions } = await setupSchedule(t)
	await select(`${byClock}, allow_reentry = true`)
	await people(select, project.id, 1100)
	const { enrolSome } = enrolmentActivities({ pool, relay: { wake() {} } })
	type Page = Awaited<ReturnType<typeof enrolSome>>
	async function enrol(scheduledFor: string, between = async () => {}) {
		const pages: Page[] = []
		do {
			if (pages.length > 0) await between()
			const after = pages.at(-1)?.last ?? null
			const page = { projectId: project.id, automationId, scheduledFor, after }
			pages.push(await new MockActivityEnvironment().run(enrolSome, page))
		} while (pages.at(-1)!.last !== null)
		return pages.map(({ enrolled }) => enrolled)
	}
	t.deepEqual(await enrol('2026-05-04T07:30:00.000Z'), [500, 500, 100])
	// All have ended before the scheduled time is repeated.
	await select(`update executions set status = 'COMPLETED', completed_at = now()`)
	t.deepEqual(await enrol('2026-05-04T07:30:00.000Z'), [0])
	// Even if the enrolment's row is gone.
	await select('delete from enrolments')
	t.deepEqual(await enrol('2026-05-04T07:30:00.000Z'), [0, 0, 0])
	t.deepEqual(await enrol('2026-05-11T07:30:00.000Z'), [500, 500, 100])
	t.is((await executions()).length, 2200)
	await select(`update executions set status = 'COMPLETED', completed_at = now()`)
	const disable = async () => void (await select('update automations set enabled = false'))
	t.deepEqual(await enrol('2026-05-18T07:30:00.000Z', disable), [500, 0])
	t.deepEqual(await enrol('2026-05-25T07:30:00.000Z'), [0])
	t.deepEqual(await select('select from enrolments where ended_at is null'), [])
})

test('an enrolment whose run Temporal has lost continues after the last enrolled contact', async (t) => {
	const { pool, select, automationId, project, outbox } = await setupSchedule(t)
	await select(byClock)
	await people(select, project.id, 1100)
	const moment = '2026-05-04T07:30:00.000Z'
	const workflowId = `enrol/${automationId}-2026-05-04T07:30:00Z`
	const { enrolSome } = enrolmentActivities({ pool, relay: { wake() {} } })
	const environment = new MockActivityEnvironment({
		workflowExecution: { workflowId, runId: 'run' },
	})
	const enrol = (after: string | null): ReturnType<typeof enrolSome> =>
		environment.run(enrolSome, {
			projectId: project.id,
			automationId,
			scheduledFor: moment,
			after,
		})
	const { last } = await enrol(null)
	t.is(await lookForLost(pool), 0)
	const pass = () => select(`update enrolments set updated_at = now() - interval '6 minutes'`)
	await pass()
	t.is(await lookForLost(pool, workflowId), 0)
	t.is(await lookForLost(pool), 1)
	t.is(await lookForLost(pool), 0)
	const [start] = (await outbox('start')).filter((row) => row.workflow_id === workflowId)
	t.is(start!.workflow_id, workflowId)
	const progress = { scheduledFor: moment, after: last, enrolled: 0 }
	t.deepEqual(start!.payload, { projectId: project.id, automationId, progress })
	t.is(start!.priority, 5)
	await select('update outbox set done_at = now()')
	await pass()
	const lost = await unfinishedEnrolments(pool, { limit: 10 })
	// A late try doesn't reset the progress.
	const second = await enrol(last)
	await enrol(null)
	t.like(await select('select after from enrolments'), [{ after: second.last }])
	t.deepEqual(await enrol(second.last), { enrolled: 100, last: null })
	// The run ended while Temporal was asked.
	await restartEnrolments(pool, { runs: lost, taskQueue: taskQueues.core })
	await pass()
	t.is(await lookForLost(pool), 0)
	t.is((await select(`select from outbox where workflow_type = 'enrol'`)).length, 1)
	t.is((await select('select from executions')).length, 1100)
})

for (const [what, change] of [
	['its schedule is for everybody', 'update automations set segment_id = null'],
	[
		'its segment asks something else',
		`update segments set condition = '{"logic":"AND","groups":[{"filters":[{"field":"data.plan","operator":"exists"}]}]}'`,
	],
	[
		'a segment that its segment is made of asks something else',
		`update segments set condition = replace(condition::text, 'pro', 'free')::jsonb where name = 'Pro'`,
	],
] as const)
	test(`an enrolment keeps the audience of its start, even when ${what} by then`, async (t) => {
		const { pool, select, automationId, project, call } = await setupSchedule(t)
		await people(select, project.id, 1700)
		await select(
			`update contacts set data = case when split_part(email, '@', 1)::int % 3 > 0 then '{"plan":"pro"}' else '{"plan":"free"}' end::jsonb`,
		)
		const create = async (name: string, filter: object) => {
			const condition = { logic: 'AND', groups: [{ filters: [filter] }] }
			const answer = await call('POST', '/segments', { name, condition })
			return answer.json<{ id: string }>().id
		}
		const inner = await create('Pro', { field: 'data.plan', operator: 'equals', value: 'pro' })
		const field = `segment.${inner}`
		const outer = await create('Members', { field, operator: 'memberOfSegment' })
		await select(`${byClock}, segment_id = $1`, [outer])
		const [{ count }] = (await select(
			`select count(*)::int as count from contacts where data->>'plan' = 'pro'`,
		)) as [{ count: number }]
		const { enrolSome } = enrolmentActivities({ pool, relay: { wake() {} } })
		const enrol = (after: string | null): ReturnType<typeof enrolSome> =>
			new MockActivityEnvironment().run(enrolSome, {
				projectId: project.id,
				automationId,
				scheduledFor: '2026-05-04T07:30:00.000Z',
				after,
			})
		let { enrolled, last } = await enrol(null)
		t.is(enrolled, 500)
		await select(change)
		// Its segments are protected until the enrolment ends.
		const remove = () => call('DELETE', `/segments/${outer}`)
		t.is((await remove()).statusCode, 409)
		let after = last
		while (last !== null) {
			after = last
			const page = await enrol(last)
			enrolled += page.enrolled
			last = page.last
		}
		t.is(count, 1134)
		t.is(enrolled, count)
		// The answer with the last page was lost.
		t.deepEqual(await enrol(after), { enrolled: 0, last: null })
		await select('update automations set segment_id = null')
		t.is((await remove()).statusCode, 204)
	})

test('a schedule with a segment begins its members only', async (t) => {
	const { pool, select, automationId, project, call, executions } = await setupSchedule(t)
	await people(select, project.id, 20)
	await select(`update contacts set data = '{"plan":"pro"}' where email like '1%'`)
	const filters = [{ field: 'data.plan', operator: 'equals', value: 'pro' }]
	const segment = { name: 'Pro', condition: { logic: 'AND', groups: [{ filters }] } }
	const { id } = (await call('POST', '/segments', segment)).json<{ id: string }>()
	await select(`${byClock}, segment_id = $1`, [id])
	const { enrolSome } = enrolmentActivities({ pool, relay: { wake() {} } })
	const page = { projectId: project.id, automationId, scheduledFor: '2026-05-04T07:30:00.000Z' }
	const some = await new MockActivityEnvironment().run(enrolSome, { ...page, after: null })
	t.deepEqual(some, { enrolled: 11, last: null })
	t.is((await executions()).length, 11)
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
