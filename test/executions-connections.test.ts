import { setTimeout as sleep } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { Pool } from 'pg'
import config from '../db/config.ts'
import { mailStep, webhookStep } from './helpers/executions.ts'
import { setupLargeWork } from './helpers/large-work.ts'
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
		return (await advanceExecution(key, 2)).about
	}
	const end = await Promise.race([course(), sleep(10_000, 'waits for a connection')])
	for (const one of inUse) one.release()
	t.is(end, 'COMPLETED')
	t.is((await executions())[0]!.status, 'COMPLETED')
})
