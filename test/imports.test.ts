import test from 'ava'
import { setupJobs } from './helpers/jobs.ts'

test('a file becomes contacts, and the job shows the outcome of its rows', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload('Email, Plan \nAda@Example.org,pro\nnobody,x\n')).json()
	const waiting = await jobs.job(jobId)
	t.is(waiting.state, 'waiting')
	t.is(waiting.progress, 0)
	t.is(waiting.result, null as never)
	await jobs.run(jobId)
	const job = await jobs.job(jobId)
	t.like(job, { id: jobId, type: 'import', state: 'completed', progress: 100, failedReason: null })
	t.truthy(job.startedAt && job.finishedAt)
	t.deepEqual(job.result, {
		totalRows: 2,
		successCount: 1,
		createdCount: 1,
		updatedCount: 0,
		failureCount: 1,
		errors: [{ row: 3, email: 'nobody', error: 'This is not an email address' }],
	})
	t.like(await jobs.contact('ada@example.org'), { subscribed: true, data: { plan: 'pro' } })
})

test('an upload leaves job, file and the start of its workflow, or nothing', async (t) => {
	const jobs = await setupJobs(t)
	const answer = await jobs.upload('email\nada@example.org\n')
	t.is(answer.statusCode, 202)
	t.is(answer.headers['location'], `/contacts/import/${answer.json().jobId}`)
	const { jobId } = answer.json()
	t.is(jobs.wakes.count, 1)
	const outbox = await jobs.execute(
		'select kind, priority, workflow_type, workflow_id, task_queue, project_id, payload from outbox',
	)
	t.deepEqual(outbox, [
		{
			kind: 'start',
			priority: 5,
			workflow_type: 'importContacts',
			workflow_id: `import/${jobId}`,
			task_queue: 'core',
			project_id: jobs.project.id,
			payload: { projectId: jobs.project.id, jobId },
		},
	])
})

test('rows change contacts as POST /contacts does: empty cells and words keep stored values', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import(
		'email,subscribed,city,plan\nada@example.org,no,Paris,free\nbob@example.org,yes,,\n',
	)
	t.like(await jobs.contact('ada@example.org'), { subscribed: false })
	const job = await jobs.import(
		'email,subscribed,city,plan\nada@example.org,,,pro\nbob@example.org,0,Rome,\n',
	)
	t.like(job.result, { createdCount: 0, updatedCount: 2, successCount: 2 })
	t.like(await jobs.contact('ada@example.org'), {
		subscribed: false,
		data: { city: 'Paris', plan: 'pro' },
	})
	t.like(await jobs.contact('bob@example.org'), { subscribed: false, data: { city: 'Rome' } })
	t.deepEqual(await jobs.eventNames(), ['contact.unsubscribed'])
})
