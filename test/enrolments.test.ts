import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import type { Pool } from 'pg'
import { enrolmentActivities } from '../activities/automations/enrolment.ts'
import { restartEnrolments, unfinishedEnrolments } from '../db/automations/lost-enrolments.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { lookForLost } from './helpers/forgetful.ts'
import { lockWaits } from './helpers/locks.ts'
import { byClock, people, setupSchedule } from './helpers/schedule.ts'

/** Each turn starts a few executions, or looks at one page of contacts. */
const inShortTurns = (pool: Pool) =>
	enrolmentActivities({ pool, relay: { wake() {} }, stopping: AbortSignal.abort() })

test('a scheduled time enrols each contact once, however often it is repeated', async (t) => {
	const { pool, select, automationId, project, executions } = await setupSchedule(t)
	await select(`${byClock}, allow_reentry = true`)
	await people(select, project.id, 1100)
	const { enrolSome } = inShortTurns(pool)
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

test('an enrolment whose page takes too long goes on with a smaller one', async (t) => {
	const { pool, select, automationId, project } = await setupSchedule(t)
	await select(byClock)
	await people(select, project.id, 1600)
	const { enrolSome } = enrolmentActivities({
		pool,
		relay: { wake() {} },
		stopping: new AbortController().signal,
	})
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin; lock table contacts in access exclusive mode')
	const scheduledFor = '2026-05-04T07:30:00.000Z'
	const turn = { projectId: project.id, automationId, scheduledFor, after: null }
	const enrolled: ReturnType<typeof enrolSome> = new MockActivityEnvironment().run(enrolSome, turn)
	await lockWaits(t, pool, 1)
	const { rows } = await pool.query<{ pid: number }>(
		`select pid, pg_cancel_backend(pid) from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`,
	)
	t.is(rows.length, 1)
	await holder.query('commit')
	t.deepEqual(await enrolled, { enrolled: 1600, last: null })
})

for (const [change, changes] of [
	['is disabled, even if it is enabled again at once', ['enabled = false', 'enabled = true']],
	['gets another trigger', [`trigger_type = 'EVENT', event_name = 'e'`]],
] as const)
	test(`a page that is about to start executions starts none once its automation ${change}`, async (t) => {
		const { pool, select, automationId, project, executions } = await setupSchedule(t)
		await select(byClock)
		await people(select, project.id, 700)
		const { enrolSome } = inShortTurns(pool)
		const holder = await pool.connect()
		t.teardown(() => holder.release(true))
		await holder.query('begin; select from contacts for update')
		const scheduledFor = '2026-05-04T07:30:00.000Z'
		const turn = { projectId: project.id, automationId, scheduledFor, after: null }
		const enrolled = new MockActivityEnvironment().run(enrolSome, turn)
		await lockWaits(t, pool, 1)
		for (const made of changes) await select(`update automations set ${made}`)
		await holder.query('commit')
		t.deepEqual(await enrolled, { enrolled: 0, last: null })
		t.is((await executions()).length, 0)
		t.deepEqual(await select('select from enrolments where ended_at is null'), [])
	})

test('an enrolment whose run Temporal has lost continues after the last enrolled contact', async (t) => {
	const { pool, select, automationId, project, outbox } = await setupSchedule(t)
	await select(byClock)
	await people(select, project.id, 1100)
	const moment = '2026-05-04T07:30:00.000Z'
	const workflowId = `enrol/${automationId}-2026-05-04T07:30:00Z`
	const { enrolSome } = inShortTurns(pool)
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
	// A late try continues where another one has come to.
	const second = await enrol(last)
	t.like(await select('select after from enrolments'), [{ after: second.last }])
	t.deepEqual(await enrol(null), { enrolled: 100, last: null })
	t.deepEqual(await enrol(second.last), { enrolled: 0, last: null })
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
		const { enrolSome } = inShortTurns(pool)
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

test('contacts that are created while a scheduled run is at work are not part of it', async (t) => {
	const { pool, select, automationId, project, call, executions } = await setupSchedule(t)
	await select(byClock)
	await people(select, project.id, 600)
	const { enrolSome } = inShortTurns(pool)
	const enrol = (scheduledFor: string, after: string | null): ReturnType<typeof enrolSome> =>
		new MockActivityEnvironment().run(enrolSome, {
			projectId: project.id,
			automationId,
			scheduledFor,
			after,
		})
	const first = await enrol('2026-05-04T07:30:00.000Z', null)
	t.is(first.enrolled, 500)
	await call('POST', '/contacts', { email: 'newcomer@example.org' })
	t.deepEqual(await enrol('2026-05-04T07:30:00.000Z', first.last), { enrolled: 100, last: null })
	t.is((await executions()).length, 600)
	// The next run is for all who are there when it begins.
	t.deepEqual(await enrol('2026-05-11T07:30:00.000Z', null), { enrolled: 1, last: null })
})

test('a schedule with a segment begins its members only', async (t) => {
	const { pool, select, automationId, project, call, executions } = await setupSchedule(t)
	await people(select, project.id, 20)
	await select(`update contacts set data = '{"plan":"pro"}' where email like '1%'`)
	const filters = [{ field: 'data.plan', operator: 'equals', value: 'pro' }]
	const segment = { name: 'Pro', condition: { logic: 'AND', groups: [{ filters }] } }
	const { id } = (await call('POST', '/segments', segment)).json<{ id: string }>()
	await select(`${byClock}, segment_id = $1`, [id])
	const { enrolSome } = inShortTurns(pool)
	const page = { projectId: project.id, automationId, scheduledFor: '2026-05-04T07:30:00.000Z' }
	const some = await new MockActivityEnvironment().run(enrolSome, { ...page, after: null })
	t.deepEqual(some, { enrolled: 11, last: null })
	t.is((await executions()).length, 11)
})

test('a schedule with a tracked segment begins those who are its members at that time, not at its last compute', async (t) => {
	const { pool, select, automationId, project, call } = await setupSchedule(t)
	await people(select, project.id, 3)
	const plan = (email: string, plan: string) => call('POST', '/contacts', { email, data: { plan } })
	await plan('1@example.org', 'pro')
	await plan('2@example.org', 'pro')
	const filters = [{ field: 'data.plan', operator: 'equals', value: 'pro' }]
	const segment = {
		name: 'Pro',
		condition: { logic: 'AND', groups: [{ filters }] },
		trackMembership: true,
	}
	const { id } = (await call('POST', '/segments', segment)).json<{ id: string }>()
	t.like((await call('POST', `/segments/${id}/compute`)).json(), { total: 2 })
	await plan('2@example.org', 'free')
	await plan('3@example.org', 'pro')
	await select(`${byClock}, segment_id = $1`, [id])

	const { enrolSome } = inShortTurns(pool)
	const page = { projectId: project.id, automationId, scheduledFor: '2026-05-04T07:30:00.000Z' }
	const some = await new MockActivityEnvironment().run(enrolSome, { ...page, after: null })
	t.deepEqual(some, { enrolled: 2, last: null })
	const members = (await call('GET', `/segments/${id}/contacts`)).json<{ data: { id: string }[] }>()
	const begun = await select<{ contact_id: string }>('select contact_id from executions')
	t.deepEqual(
		begun.map(({ contact_id }) => contact_id).toSorted(),
		members.data.map((member) => member.id).toSorted(),
	)
})

test('an enrolment looks at some contacts at a time and records them, however few of them match', async (t) => {
	const { pool, select, automationId, project, call } = await setupSchedule(t)
	await people(select, project.id, 7000)
	await select(`update contacts set data = '{"plan":"pro"}' where email = '7000@example.org'`)
	const filters = [{ field: 'data.plan', operator: 'equals', value: 'pro' }]
	const segment = { name: 'Pro', condition: { logic: 'AND', groups: [{ filters }] } }
	const { id } = (await call('POST', '/segments', segment)).json<{ id: string }>()
	await select(`${byClock}, segment_id = $1`, [id])
	const { enrolSome } = inShortTurns(pool)
	const some = { projectId: project.id, automationId, scheduledFor: '2026-05-04T07:30:00.000Z' }
	const enrol = (after: string | null): ReturnType<typeof enrolSome> =>
		new MockActivityEnvironment().run(enrolSome, { ...some, after })
	const looked = async () =>
		(
			await select<{ looked: number }>(
				'select (select count(*)::int from contacts where id <= after) as looked from enrolments',
			)
		)[0]!.looked
	const first = await enrol(null)
	t.is(first.enrolled, 0)
	t.is(await looked(), 3000)
	const second = await enrol(first.last)
	t.is(await looked(), 6000)
	t.deepEqual(await enrol(second.last), { enrolled: 1, last: null })
})

test('an enrolment takes one turn at many contacts, unless that takes long', async (t) => {
	const { pool, select, automationId, project } = await setupSchedule(t)
	await select(byClock)
	await people(select, project.id, 4000)
	const { enrolSome } = enrolmentActivities({
		pool,
		relay: { wake() {} },
		stopping: new AbortController().signal,
	})
	const turn = { projectId: project.id, automationId, scheduledFor: '2026-05-04T07:30:00.000Z' }
	const rest = await new MockActivityEnvironment().run(enrolSome, { ...turn, after: null })
	t.deepEqual(rest, { enrolled: 4000, last: null })
})

test('an enrolment does not wait for contacts that may not enter again', async (t) => {
	const { pool, select, automationId, project } = await setupSchedule(t)
	await select(byClock)
	await people(select, project.id, 20)
	const { enrolSome } = inShortTurns(pool)
	const enrol = (scheduledFor: string) =>
		new MockActivityEnvironment().run(enrolSome, {
			projectId: project.id,
			automationId,
			scheduledFor,
			after: null,
		})
	t.deepEqual(await enrol('2026-05-04T07:30:00.000Z'), { enrolled: 20, last: null })
	const other = await pool.connect()
	t.teardown(() => other.release())
	await other.query('begin; select from contacts for update')
	t.deepEqual(await enrol('2026-05-11T07:30:00.000Z'), { enrolled: 0, last: null })
	await other.query('rollback')
})
