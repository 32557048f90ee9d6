import test from 'ava'
import { createProject } from './helpers/app.ts'
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

test('imports are listed newest first, with their files, outcomes and undos', async (t) => {
	const jobs = await setupJobs(t)
	const first = await jobs.import('email\nada@example.org\nnobody\n')
	const undo = await jobs.undo(first.id)
	const { jobId } = (await jobs.upload('email\nbob@example.org\n', '  friends   2.csv ')).json()
	await jobs.bulk('subscribe', { mode: 'query', filter: {} })
	const answer = await jobs.call('GET', '/contacts/import')
	t.is(answer.statusCode, 200)
	const { data, hasMore, total } = answer.json()
	t.deepEqual([hasMore, total], [false, 2])
	t.deepEqual(
		data.map((one: { id: string }) => one.id),
		[jobId, first.id],
	)
	t.like(data[0], {
		fileName: 'friends 2.csv',
		state: 'waiting',
		progress: 0,
		result: null,
		undo: null,
	})
	t.like(data[1], {
		fileName: 'contacts.csv',
		state: 'completed',
		undo: { jobId: undo.id, state: 'completed' },
	})
	t.deepEqual(data[1].result, {
		totalRows: 2,
		successCount: 1,
		createdCount: 1,
		updatedCount: 0,
		failureCount: 1,
	})
	t.is((await jobs.job(jobId)).fileName, 'friends 2.csv')

	const page = (await jobs.call('GET', '/contacts/import?limit=1')).json()
	t.like(page, { hasMore: true, total: 2 })
	const rest = (await jobs.call('GET', `/contacts/import?limit=1&cursor=${page.cursor}`)).json()
	t.like(rest, { hasMore: false, total: 0 })
	t.is(rest.data[0].id, first.id)
})

test('imports of other projects are not listed, and neither is what is no cursor', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.upload('email\nada@example.org\n')
	const { withSecretKey } = await createProject(jobs.orm)
	const theirs = await jobs.app.inject({ url: '/contacts/import', headers: withSecretKey })
	t.like(theirs.json(), { data: [], hasMore: false, total: 0 })
	t.is((await jobs.call('GET', '/contacts/import?cursor=x')).statusCode, 400)
})

test('the list of imports is read from an index, however many other jobs there are', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.execute(
		`insert into jobs (project_id, type)
		select '${jobs.project.id}', case when n % 1000 = 0 then 'import' else 'bulk-subscribe' end
		from generate_series(1, 20000) n`,
	)
	await jobs.execute('analyze jobs')
	const plan = await jobs.execute(
		`explain (format json) select * from jobs
		where project_id = '${jobs.project.id}' and type = 'import' order by id desc limit 21`,
	)
	t.regex(JSON.stringify(plan), /"Index Name":"jobs_imports"/)
})

test('an address that is repeated without any data is one contact', async (t) => {
	const jobs = await setupJobs(t)
	const job = await jobs.import('email,city\na@example.org,\na@example.org,\nb@example.org,Rome\n')
	t.like(job, { state: 'completed', result: { createdCount: 2, failureCount: 0 } })
	t.deepEqual((await jobs.contact('a@example.org'))!.data, {})
})

test('a file with many columns is applied in chunks that are soon done', async (t) => {
	const jobs = await setupJobs(t)
	const names = Array.from({ length: 100 }, (_, i) => `field${i}`)
	const rows = Array.from(
		{ length: 500 },
		(_, i) => `c${i}@example.org,${names.map((_name, at) => `${i % 7}${at}`).join(',')}`,
	)
	const csv = `email,${names.join(',')}\n${rows.join('\n')}\n`
	const { jobId } = (await jobs.upload(csv)).json<{ jobId: string }>()
	const job = { projectId: jobs.project.id, jobId }
	t.true(await jobs.act(jobs.activities.stageImport, job))
	const chunks = await jobs.execute<{ rows: number }>(
		'select cardinality(rows) as rows from import_chunks order by position',
	)
	t.deepEqual(
		chunks.map((chunk) => chunk.rows),
		[200, 200, 100],
	)
	await jobs.run(jobId)
	t.like(await jobs.job(jobId), { state: 'completed', result: { createdCount: 500 } })
})

test('an address that is repeated in every row costs no more than many addresses', async (t) => {
	const jobs = await setupJobs(t)
	const names = Array.from({ length: 900 }, (_, i) => `field${i}`)
	const wide = (email: string, value: string) =>
		`${email},yes,${names.map(() => value).join(',')}\n`
	const fileOf = (addresses: string[]) =>
		[
			`email,subscribed,${names.join(',')}\n`,
			wide('a@example.org', 'first'),
			...addresses.map((address) => `${address},no,middle\n`),
			'a@example.org,,last\nb@example.org,yes,only\n',
		].join('')
	const rows = Array.from({ length: 20_000 }, (_, i) => i)
	const stagingMs = async (csv: string) => {
		const { jobId } = (await jobs.upload(csv)).json<{ jobId: string }>()
		const startedAt = performance.now()
		await jobs.act(jobs.activities.stageImport, { projectId: jobs.project.id, jobId })
		return { jobId, ms: performance.now() - startedAt }
	}
	const many = await stagingMs(fileOf(rows.map((i) => `c${i}@example.org`)))
	const one = await stagingMs(fileOf(rows.map(() => 'a@example.org')))
	// Merging whole rows took 40 times as long.
	t.true(one.ms < 8 * many.ms, `${one.ms} and ${many.ms} ms`)
	await jobs.run(one.jobId)
	t.like(await jobs.job(one.jobId), {
		state: 'completed',
		result: { totalRows: 20_003, createdCount: 2 },
	})
	const { subscribed, data } = (await jobs.contact('a@example.org'))!
	t.false(subscribed)
	t.is(Object.keys(data).length, 900)
	t.is(data['field0'], 'last')
	t.is(data['field899'], 'first')
})
