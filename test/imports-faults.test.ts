import test from 'ava'
import type { Pool } from 'pg'
import { readRows } from '../activities/imports/import-rows.ts'
import { finishImport } from '../db/imports/import-applying.ts'
import { importFile, stageRows } from '../db/imports/import-staging.ts'
import { restartJobs, unfinishedJobs } from '../db/jobs/lost-jobs.ts'
import { createProject } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { setupJobs } from './helpers/jobs.ts'

const addresses = (count: number) => Array.from({ length: count }, (_, i) => `${i}@example.org`)
const fileOf = (count: number) => ['email', ...addresses(count)].join('\n')

test('an import continues after a crash at its current chunk, and does nothing twice', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload(fileOf(4500))).json()
	const goOn = await jobs.breakAt(jobId, 2000)
	await t.throwsAsync(jobs.run(jobId), { message: /no further/ })
	t.like(await jobs.job(jobId), { state: 'active', progress: 44, result: null as never })
	t.is(await jobs.contactCount(), 2000)
	await goOn()
	await jobs.run(jobId)
	const { result } = await jobs.job(jobId)
	t.like(result, { totalRows: 4500, createdCount: 4500, updatedCount: 0, failureCount: 0 })
	t.is(await jobs.contactCount(), 4500)
})

test('two workers with the same import share the work and do each part once', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload(`${fileOf(6500)}\nwrong`)).json()
	const key = { projectId: jobs.project.id, jobId }
	t.true(await jobs.act(jobs.activities.stageImport, key))
	const worker = () => jobs.act(jobs.activities.applyImport, key)
	await Promise.all([worker(), worker(), worker()])
	const { result } = await jobs.job(jobId)
	t.like(result, { totalRows: 6501, createdCount: 6500, updatedCount: 0, failureCount: 1 })
})

test('a try that has staged the file when another has applied it leaves nothing to be applied again', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload(fileOf(5))).json()
	const key = { projectId: jobs.project.id, jobId }
	const [late] = await importFile(jobs.pool, { projectId: key.projectId, jobId })
	t.true(await jobs.act(jobs.activities.stageImport, key))
	await jobs.act(jobs.activities.applyImport, key)
	await t.throwsAsync(stageRows(jobs.pool, key, readRows('p', late!.content)), {
		message: /meanwhile/,
	})
	t.deepEqual(await jobs.execute('select 1 from import_chunks'), [])
	t.false(await jobs.act(jobs.activities.stageImport, key), 'the next try finds it done')
})

test('contacts created by others at the same time are updated, not lost', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (
		await jobs.upload(['email,plan', ...addresses(3000).map((a) => `${a},pro`)].join('\n'))
	).json()
	const others = addresses(3000)
		.filter((_, i) => i % 60 === 0)
		.map((email) =>
			jobs.call('POST', '/contacts', { email, subscribed: false, data: { by: 'hand' } }),
		)
	await Promise.all([jobs.run(jobId), ...others])
	t.like((await jobs.job(jobId)).result, { successCount: 3000, failureCount: 0 })
	const [{ n }] = (await jobs.execute(
		`select count(*)::int as n from contacts where data->>'plan' = 'pro'`,
	)) as [{ n: number }]
	t.is(n, 3000)
})

test('two imports of the same addresses, in opposite orders, end without a deadlock', async (t) => {
	const jobs = await setupJobs(t)
	const there = addresses(3000)
	const csv = (rows: string[], word: string) =>
		['email,subscribed', ...rows.map((email) => `${email},${word}`)].join('\n')
	await jobs.import(csv(there, 'yes'))
	const [a, b] = await Promise.all([
		jobs.import(csv(there, 'no')),
		jobs.import(csv(there.toReversed(), 'no')),
	])
	t.is(a.state, 'completed')
	t.is(b.state, 'completed')
	t.is((await jobs.eventNames()).length, 3000, 'each flip once')
})

test('cancelling stops between two chunks; applied rows stay and staged rows are deleted', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload(fileOf(4500))).json()
	await jobs.cancelWhenAt(jobId, 2000)
	await jobs.run(jobId)
	t.like(await jobs.job(jobId), { state: 'cancelled', result: { createdCount: 2000 } })
	t.is(await jobs.contactCount(), 2000)
	t.deepEqual(
		await jobs.execute('select 1 from import_chunks union all select 1 from import_files'),
		[],
	)
})

test('cancelling does not wait for the chunk under way: that chunk is taken back', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email\n0@example.org\n')
	const { jobId } = (await jobs.upload('email,plan\n0@example.org,pro\n1@example.org,pro\n')).json()
	const release = await hold(jobs.pool, 'select from contacts for update')
	const running = jobs.run(jobId)
	await somebodyWaits(jobs.pool)
	const answer = await jobs.call('DELETE', `/contacts/import/${jobId}`)
	await release()
	await running
	t.like(answer.json(), { state: 'cancelled', result: { totalRows: 2, successCount: 0 } })
	t.deepEqual((await jobs.job(jobId)).result, answer.json().result)
	t.is(await jobs.contactCount(), 1)
	t.deepEqual((await jobs.contact('0@example.org'))?.data, {})
})

test('a worker that finds nothing to do leaves the end to the one with the last chunk', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email\n0@example.org\n')
	const { jobId } = (await jobs.upload('email,plan\n0@example.org,pro\n')).json()
	const release = await hold(jobs.pool, 'select from contacts for update')
	const first = jobs.run(jobId)
	await somebodyWaits(jobs.pool)
	const [end] = await finishImport(jobs.pool, { projectId: jobs.project.id, jobId })
	t.deepEqual({ ...end }, { isBusy: true })
	await release()
	await first
	t.like(await jobs.job(jobId), { state: 'completed', result: { updatedCount: 1 } })
	t.is((await jobs.contact('0@example.org'))?.data['plan'], 'pro')
})

test('a contact created by another request at the same moment still gets the row', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload('email,plan\n0@example.org,pro\n')).json()
	const release = await hold(
		jobs.pool,
		`insert into contacts (project_id, email, subscribed)
		values ('${jobs.project.id}', '0@example.org', false)`,
	)
	const running = jobs.run(jobId)
	await somebodyWaits(jobs.pool)
	await release()
	await running
	t.like((await jobs.job(jobId)).result, { createdCount: 0, updatedCount: 1 })
	t.like(await jobs.contact('0@example.org'), { subscribed: false, data: { plan: 'pro' } })
	t.deepEqual(await jobs.eventNames(), [])
})

/** A transaction of another client, open until the returned function is called. */
async function hold(pool: Pool, sql: string) {
	const db = await pool.connect()
	await db.query(`begin; ${sql}`)
	return async () => {
		await db.query('commit')
		db.release()
	}
}

async function somebodyWaits(pool: Pool) {
	const waiting = `select from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`
	while ((await pool.query(waiting)).rowCount === 0);
}

test('an import that is cancelled while it waits does nothing at all', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload(fileOf(5))).json()
	const answer = await jobs.call('DELETE', `/contacts/import/${jobId}`)
	t.like(answer.json(), { state: 'cancelled', result: null, startedAt: null })
	await jobs.run(jobId)
	t.is(await jobs.contactCount(), 0)
	isEnvelope(t, await jobs.call('DELETE', `/contacts/import/${jobId}`), 409, 'CONFLICT')
})

test('an ended import keeps neither file nor rows', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import(fileOf(5))
	t.deepEqual(
		await jobs.execute('select 1 from import_chunks union all select 1 from import_files'),
		[],
	)
})

test('jobs of other projects are not found', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload(fileOf(1))).json()
	const { withSecretKey: headers } = await createProject(jobs.orm)
	for (const [method, path] of [
		['GET', ''],
		['DELETE', ''],
		['GET', '/errors'],
	] as const) {
		const answer = await jobs.app.inject({
			method,
			url: `/contacts/import/${jobId}${path}`,
			headers,
		})
		isEnvelope(t, answer, 404, 'RESOURCE_NOT_FOUND')
	}
	t.is((await jobs.job(jobId)).state, 'waiting')
})

test('a job that Temporal has forgotten is found after five minutes, and started again', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload(fileOf(1))).json()
	const { jobId: bulkId } = (
		await jobs.call('POST', '/contacts/bulk-delete', { mode: 'query', filter: {} })
	).json()
	const { jobId: endedId } = (await jobs.upload(fileOf(1))).json()
	await jobs.run(endedId)
	t.deepEqual(await unfinishedJobs(jobs.pool, { limit: 10 }), [])
	await jobs.execute(`update jobs set created_at = now() - interval '6 minutes'`)
	t.deepEqual(await unfinishedJobs(jobs.pool, { limit: 10 }), [], 'Temporal is yet to be told')
	await jobs.execute('update outbox set done_at = now()')
	const lost = await unfinishedJobs(jobs.pool, { limit: 10 })
	t.is(lost.length, 2)
	for (const id of [jobId, bulkId]) t.true(lost.some((job) => job.id === id))
	const starts = (which: string) =>
		jobs.execute(
			`select workflow_type, workflow_id, payload, task_queue, priority from outbox
			where done_at is ${which} order by workflow_id`,
		)
	await restartJobs(jobs.pool, { runs: lost, taskQueue: 'core' })
	const first = await starts('not null')
	t.deepEqual(
		await starts('null'),
		first.filter(({ workflow_id }) => workflow_id !== `import/${endedId}`),
	)
})
