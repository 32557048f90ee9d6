import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { taskQueues } from '../workflows/task-queues.ts'
import { setupJobs, turnOf } from './helpers/jobs.ts'
import { withWorkers } from './helpers/workflow.ts'

// Jobs take turns, so that large ones leave the workers to other work and to other workers.

const period = { from: '2026-01-01T00:00:00Z', to: '2036-01-01T00:00:00Z' }

/** Each begins a job of several chunks, and says where it is read. */
const kinds = {
	'a bulk job': async (jobs: Jobs) => {
		await fill(jobs, 2500)
		const filter = { mode: 'query', filter: {} }
		return begun(jobs, '/contacts/bulk-unsubscribe', filter, '/contacts/bulk')
	},
	'an import': async (jobs: Jobs) => {
		const { jobId } = (await jobs.upload(fileOf(8500))).json<{ jobId: string }>()
		await jobs.act(jobs.activities.stageImport, { projectId: jobs.project.id, jobId })
		return { jobId, url: `/contacts/import/${jobId}` }
	},
	'an undo': async (jobs: Jobs) => {
		const { id } = await jobs.import(fileOf(4500))
		return begun(jobs, `/contacts/import/${id}/undo`, undefined, '/contacts/import')
	},
	'a replay': async (jobs: Jobs) => {
		const url = 'https://example.com/hook'
		const endpoint = await jobs.call('POST', '/webhook-endpoints', { url, events: ['*'] })
		const { id } = endpoint.json<{ id: string }>()
		await jobs.execute(
			`insert into webhook_deliveries (project_id, endpoint_id, event_id, type, occurred_at, status)
			select ?, ?, uuidv7(), 'event.e', now(), 'FAILED' from generate_series(1, 2500)`,
			[jobs.project.id, id],
		)
		const path = `/webhook-endpoints/${id}/replay`
		return begun(jobs, path, period, path)
	},
}

const ends = {
	'a bulk job': { result: { totalRequested: 2500, successCount: 2500, failureCount: 0 } },
	'an import': { result: { totalRows: 8500, createdCount: 8500, failureCount: 0 } },
	'an undo': { result: { removed: 4500, restored: 0, skipped: 0 } },
	'a replay': { replayed: 2500 },
}

for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
	test(`${kind} whose worker stops goes on in the next turn where it was, and does nothing twice`, async (t) => {
		const jobs = await setupJobs(t)
		const { jobId, read } = await begin(t, jobs, kind)
		t.true(await jobs.takeLastTurn(jobId))
		const { state, progress } = await read()
		t.is(state, 'active')
		t.true(progress > 0 && progress < 100, `${progress} %`)
		t.true(await jobs.takeCancelledTurn(jobId))
		const later = await read()
		t.true(later.progress > progress, `${later.progress} %`)
		await jobs.run(jobId)
		t.like(await read(), { state: 'completed', progress: 100, ...ends[kind] })
	})

	test(`${kind} that is cancelled between two turns keeps its finished work and does no more`, async (t) => {
		const jobs = await setupJobs(t)
		const { jobId, url, read } = await begin(t, jobs, kind)
		t.true(await jobs.takeLastTurn(jobId))
		const cancelled = await jobs.call('DELETE', url)
		t.like(cancelled.json(), { state: 'cancelled' })
		const before = await read()
		t.false(await jobs.takeLastTurn(jobId))
		await jobs.run(jobId)
		t.deepEqual(await read(), before)
		t.deepEqual(await jobs.execute('select from import_chunks'), [])
	})
}

for (const [workflow, turn] of Object.entries(turnOf))
	test(`${workflow} takes turns until its job is done`, async (t) => {
		const around = workflow === 'importContacts' ? ['stageImport', 'clearImport'] : []
		const { calls } = await run(workflow, turn, 3)
		t.deepEqual(calls, [...around.slice(0, 1), turn, turn, turn, ...around.slice(1)])
	})

test('a job of very many turns continues as a new run, and an import is cleared once, at its end', async (t) => {
	t.timeout(300_000)
	const { calls, wasContinued } = await run('importContacts', 'applyImport', 700)
	t.true(wasContinued)
	t.is(calls.filter((call) => call === 'applyImport').length, 700)
	t.is(calls.filter((call) => call === 'clearImport').length, 1)
	t.is(calls.at(-1), 'clearImport')
})

test('a run from an earlier release gets its job done by one call', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId, read } = await begin(t, jobs, 'an import')
	const key = { projectId: jobs.project.id, jobId }
	t.false(await jobs.act(jobs.activities.applyImport, key))
	t.like(await read(), { state: 'completed', progress: 100 })
})

type Jobs = Awaited<ReturnType<typeof setupJobs>>

async function begin(t: ExecutionContext, jobs: Jobs, kind: keyof typeof kinds) {
	const { jobId, url } = await kinds[kind](jobs)
	const read = async () => {
		const answer = await jobs.call('GET', url)
		t.is(answer.statusCode, 200)
		return answer.json<{ state: string; progress: number }>()
	}
	return { jobId, url, read }
}

async function begun(jobs: Jobs, path: string, body: object | undefined, readAt: string) {
	const { jobId } = (await jobs.call('POST', path, body)).json<{ jobId: string }>()
	return { jobId, url: `${readAt}/${jobId}` }
}

const fileOf = (count: number) =>
	['email', ...Array.from({ length: count }, (_, i) => `${i}@example.org`)].join('\n')

const fill = (jobs: Jobs, count: number) =>
	jobs.execute(
		`insert into contacts (project_id, email, subscribed)
		select ?, i || '@example.org', true from generate_series(1, ?) i`,
		[jobs.project.id, count],
	)

/** Runs a workflow whose job needs this many turns. */
async function run(type: string, turn: string, turns: number) {
	const calls: string[] = []
	const note = (call: string, answer: () => unknown) => async () => {
		calls.push(call)
		return answer()
	}
	const activities = {
		stageImport: note('stageImport', () => true),
		clearImport: note('clearImport', () => undefined),
		[turn]: note(turn, () => calls.filter((call) => call === turn).length < turns),
	}
	return withWorkers(activities, async ({ workflow }) => {
		const workflowId = `${type}/${randomUUID()}`
		const args = [{ projectId: 'project', jobId: 'job' }]
		const handle = await workflow.start(type, { taskQueue: taskQueues.core, workflowId, args })
		await handle.result()
		const { runId } = await workflow.getHandle(workflowId).describe()
		return { calls, wasContinued: runId !== handle.firstExecutionRunId }
	})
}
