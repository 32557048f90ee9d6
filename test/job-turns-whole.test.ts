import test, { type ExecutionContext } from 'ava'
import { client, until } from '../bench/load.ts'
import { prepareStack } from '../bench/stack.ts'
import { createProject } from './helpers/app.ts'

// Real processes, as in a deployment.

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
}

const chunks = 15

test('four large jobs of one project leave the worker to a job of another project before they end', async (t) => {
	const { begin, states, other } = await setupLargeJobs(t)
	const jobs = await begin(4)
	t.true(await until(async () => (await states(jobs)).join() === 'active×4', 30_000))
	const contactIds = [crypto.randomUUID()]
	const { jobId } = await other.ask('/contacts/bulk-delete', { contactIds })
	t.true(await until(async () => (await states([jobId])).join() === 'completed×1', 120_000))
	t.deepEqual(await states(jobs), ['active×4'])
})

test('a worker that is stopped leaves a large job to the next one, which does the rest of it', async (t) => {
	const { stack, begin, states, execute, hurry } = await setupLargeJobs(t)
	const jobs = await begin(1)
	const begun = `select from jobs where position > 0`
	t.true(await until(async () => (await execute(begun)).length === 1, 30_000))
	await stack.worker.stop('SIGTERM')
	t.deepEqual(await states(jobs), ['active×1'])
	await hurry()
	await stack.anotherWorker().start()
	t.true(await until(async () => (await states(jobs)).join() === 'completed×1', 60_000))
	const results =
		'select total, position, changed_count as changed, failed_count as failed from jobs'
	const all = chunks * 1000
	t.deepEqual(await execute(results), [{ total: all, position: all, changed: all, failed: 0 }])
	const events = `select from events where name = 'contact.unsubscribed'`
	t.is((await execute(events)).length, all)
})

/** Jobs of a project whose chunks take three seconds each. */
async function setupLargeJobs(t: ExecutionContext) {
	t.timeout(300_000)
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	t.teardown(stack.stop)
	const other = await createProject(stack.orm)
	const execute = <T = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
		stack.orm.em.fork().execute<T[]>(sql, values)
	await execute(`create function take_long() returns trigger language plpgsql as $$
		begin perform pg_sleep(3); return new; end $$`)
	await execute(`create trigger take_long before update of position on jobs for each row
		when (new.position > old.position) execute function take_long()`)
	await Promise.all([stack.api.start(), stack.worker.start()])

	const asking = (secretKey: string) => {
		const http = client(stack.apiUrl, secretKey, 1)
		t.teardown(http.close)
		return async (path: string, body: object) => {
			const answer = await http.post(path, body)
			t.is(answer.status, 202, answer.body)
			return JSON.parse(answer.body) as { jobId: string }
		}
	}
	const ask = asking(stack.secretKey)

	return {
		stack,
		execute,
		other: { ask: asking(other.secretKey) },
		/** Begins jobs that have no contact in common. */
		async begin(count: number) {
			await execute(
				`insert into contacts (project_id, email, subscribed)
				select ?, 'job' || job || '-' || i || '@example.org', true
				from generate_series(1, ?) job, generate_series(1, ?) i`,
				[stack.projectId, count, chunks * 1000],
			)
			await execute('analyze contacts')
			const searches = Array.from({ length: count }, (_, i) => `job${i + 1}-`)
			const asked = searches.map((search) =>
				ask('/contacts/bulk-unsubscribe', { mode: 'query', filter: { search } }),
			)
			return (await Promise.all(asked)).map(({ jobId }) => jobId)
		},
		/** How many of these jobs are in each state. */
		async states(jobIds: string[]) {
			const counted = `select state || '×' || count(*) as "said" from jobs
				where id = any(?::uuid[]) group by state order by state`
			const rows = await execute<{ said: string }>(counted, [`{${jobIds.join()}}`])
			return rows.map(({ said }) => said)
		},
		/** Lets chunks take no longer than usual. */
		hurry: () => execute('drop trigger take_long on jobs'),
	}
}
