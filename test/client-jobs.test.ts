import test from 'ava'
import { errorOf, faults, setupClient } from './helpers/client.ts'

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

test('an import whose answer was lost is asked for again, and accepted once', async (t) => {
	const { tempost, pool, plan, tries } = await setupClient(t)
	for (const file of ['email\nann@example.org\n', `email\n${'a'.repeat(5_000_000)}`]) {
		await pool.query('delete from jobs')
		plan(faults.lost)
		const { jobId } = await tempost.contacts.import({ file })
		const { rows } = await pool.query('select id from jobs')
		t.deepEqual(rows, [{ id: jobId }])
	}
	t.is(tries.length, 4)
})

test('an import that has the key of an earlier one is refused with its answer', async (t) => {
	const { tempost, url, secretKey } = await setupClient(t)
	const options = { idempotencyKey: 'people of May' }
	const first = await tempost.contacts.import({ file: 'email\nann@example.org\n' }, options)
	const body = new FormData()
	body.append('file', new Blob(['email\nbob@example.org\n']), 'people.csv')
	const again = await fetch(`${url}/contacts/import`, {
		method: 'POST',
		headers: { authorization: `Bearer ${secretKey}`, 'idempotency-key': options.idempotencyKey },
		body,
	})
	t.is(again.status, 409)
	t.like((await again.json()) as object, {
		error: {
			code: 'IDEMPOTENCY_KEY_REUSED',
			details: { originalStatusCode: 202, response: first },
		},
	})
})

test('a bulk job is found by its id, and a cancelled one is an error', async (t) => {
	const { tempost } = await setupClient(t)
	const { jobId } = await tempost.contacts.deleteMany({ mode: 'query', filter: {} })
	await tempost.contacts.cancelBulkJob(jobId)
	const error = await errorOf(tempost.jobs.wait(jobId))
	t.is(error.code, 'JOB_CANCELLED')
	t.like(error.details['job'], { id: jobId })
})

test('a job is waited for while the service is away, for longer than the retries of a request', async (t) => {
	const { clientOf, pool, plan, tries } = await setupClient(t)
	const tempost = clientOf({ retries: 1 })
	const away = [faults.refused, faults.gateway, faults.refused, faults.gateway]
	const job = await tempost.contacts.import({ file: 'email\nann@example.org\n' })
	plan(...away, faults.none, ...away)
	const ended = await tempost.jobs.wait(job, {
		onProgress: () => void pool.query(`update jobs set state = 'completed', finished_at = now()`),
	})
	t.is(ended.state, 'completed')
	const before = tries.length
	plan(...away)
	const error = await errorOf(tempost.jobs.wait(job, { retries: 0 }))
	t.is(error.code, 'NETWORK_ERROR')
	t.is(tries.length - before, 1)
})

test('the first look at a job by its id ends after the retries of the client', async (t) => {
	const { clientOf, plan, tries } = await setupClient(t)
	plan(faults.refused, faults.refused)
	const error = await errorOf(clientOf({ retries: 1 }).jobs.wait(crypto.randomUUID()))
	t.is(error.code, 'NETWORK_ERROR')
	t.is(tries.length, 2)
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
