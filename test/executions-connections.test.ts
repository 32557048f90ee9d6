import { setTimeout as sleep } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { Pool } from 'pg'
import { movesAtOnce } from '../activities/automations/automations.ts'
import config from '../db/config.ts'
import { createProject } from './helpers/app.ts'
import { delayStep, freeze as freezeFor, mailStep, webhookStep } from './helpers/executions.ts'
import { setupLargeWork } from './helpers/large-work.ts'
import { lockWaits } from './helpers/locks.ts'
import { startReceiver } from './helpers/webhook-receiver.ts'

test('executions move and call servers while all connections for mail are in use', async (t) => {
	const { url } = await startReceiver(t)
	const work = await setupLargeWork(t, 0)
	const { orm, pool, project, contact, freeze, track, executionId, executions } = work
	const database = new URL(String(config.clientUrl))
	database.pathname = orm.config.get('dbName')!
	const own = new Pool({ connectionString: database.href, max: 1 })
	t.teardown(() => own.end())
	await contact()
	await freeze({ on: 'x', steps: [webhookStep(url), mailStep] })
	await track('x')
	const key = { projectId: project.id, executionId: await executionId() }
	const { advanceExecution, performStep } = work.activitiesOver(work.smtp, own, own)

	const inUse = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
	const course = async () => {
		await advanceExecution(key, 0)
		await new MockActivityEnvironment().run(performStep, key, 2)
		const stop = await advanceExecution(key, 2)
		return stop.do === 'END' && stop.about
	}
	const end = await Promise.race([course(), sleep(10_000, 'waits for a connection')])
	for (const one of inUse) one.release()
	t.is(end, 'COMPLETED')
	t.is((await executions())[0]!.status, 'COMPLETED')
})

test('the moves of one project leave connections to the moves of others', async (t) => {
	const work = await setupLargeWork(t, 0)
	const { orm, pool, project, contact, freeze, track, templateId } = work
	const database = new URL(String(config.clientUrl))
	database.pathname = orm.config.get('dbName')!
	const own = new Pool({ connectionString: database.href, max: movesAtOnce })
	t.teardown(() => own.end())
	const { advanceExecution, advanceInTurn } = work.activitiesOver(work.smtp, own, own)
	await freeze({ on: 'x', steps: [delayStep(1, 'days')] })
	for (let i = 0; i < 12; i++) {
		await contact(`c${i}@example.org`)
		await track('x', {}, `c${i}@example.org`)
	}
	const { rows: busy } = await pool.query<{ id: string }>('select id from executions')
	const other = await createProject(orm)
	const { rows: theirs } = await pool.query<{ id: string }>(
		`insert into contacts (project_id, email, subscribed) values ($1, 'neighbour@example.org', true) returning id`,
		[other.project.id],
	)
	const automationId = await freezeFor(pool, other.project.id, templateId, {
		steps: [delayStep(1, 'days')],
	})
	const started = await work.app.inject({
		method: 'POST',
		url: `/workflows/${automationId}/executions`,
		headers: other.withSecretKey,
		payload: { contactId: theirs[0]!.id },
	})
	t.is(started.statusCode, 201, started.body)

	const locked = await pool.connect()
	t.teardown(() => locked.release(true))
	await locked.query('begin')
	await locked.query('select from contacts where project_id = $1 for update', [project.id])
	const keys = busy.map(({ id }) => ({ projectId: project.id, executionId: id }))
	const moves = keys.map((key) => advanceExecution(key, 0))
	await lockWaits(t, pool, 7)
	const key = { projectId: other.project.id, executionId: started.json<{ id: string }>().id }
	t.like(await Promise.race([advanceExecution(key, 0), sleep(5000, { do: 'waits' })]), {
		do: 'SLEEP',
	})
	for (const move of moves.slice(7)) t.deepEqual(await move, { do: 'QUEUE' })
	const queued = keys.slice(7).map((key) => advanceInTurn(key, 0))
	await locked.query('rollback')
	for (const stop of await Promise.all([...moves.slice(0, 7), ...queued])) t.is(stop.do, 'SLEEP')
})
