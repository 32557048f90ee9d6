import test from 'ava'
import { errorOf, setupClient } from './helpers/client.ts'

test('an import is uploaded, and its progress is reported until it has ended', async (t) => {
	const { tempost, pool } = await setupClient(t)
	const job = await tempost.contacts.import({ file: 'email\nann@example.org\n' })
	const states: string[] = []
	const ended = tempost.jobs.wait(job, {
		onProgress({ state }) {
			states.push(state)
			if (state === 'waiting') void begin()
			if (state === 'active') void end()
		},
	})
	const begin = () => pool.query(`update jobs set state = 'active', total = 2, position = 1`)
	const end = () =>
		pool.query(`update jobs set state = 'completed', position = 2, finished_at = now()`)
	t.is((await ended).progress, 100)
	t.deepEqual(states, ['waiting', 'active', 'completed'])
})

test('a bulk job is found by its id, and a cancelled one is an error', async (t) => {
	const { tempost } = await setupClient(t)
	const { jobId } = await tempost.contacts.deleteMany({ mode: 'query', filter: {} })
	await tempost.contacts.cancelBulkJob(jobId)
	const error = await errorOf(tempost.jobs.wait(jobId))
	t.is(error.code, 'JOB_CANCELLED')
	t.like(error.details['job'], { id: jobId })
})

test('a replay of a webhook endpoint is waited for', async (t) => {
	const { tempost, pool } = await setupClient(t)
	const url = 'https://example.com/hook'
	const { id } = await tempost.webhookEndpoints.create({ url, events: ['*'] })
	const period = { from: '2026-11-22T00:00:00Z', to: '2026-11-23T00:00:00Z' }
	const job = await tempost.webhookEndpoints.replay(id, period)
	const ended = tempost.jobs.waitForReplay(id, job, {
		onProgress: () =>
			void pool.query(`update jobs set state = 'completed', total = 0, finished_at = now()`),
	})
	t.like(await ended, { id: job.jobId, state: 'completed' })
	const mistaken = await errorOf(tempost.jobs.wait(job))
	t.regex(mistaken.suggestion ?? '', /waitForReplay/)
})
