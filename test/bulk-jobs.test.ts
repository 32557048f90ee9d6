import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { doChunk } from '../db/jobs/bulk-jobs.ts'
import { type BulkTarget, setTarget } from '../db/jobs/bulk-target.ts'
import { acceptBulkJob, beginJob } from '../db/jobs/jobs.ts'
import { transaction } from '../db/transaction.ts'
import { createProject } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { setupJobs } from './helpers/jobs.ts'
import { lockWaits } from './helpers/locks.ts'

/** Contacts 0, 1, 2… The even ones are subscribed; `plan` is pro for every third. */
async function setupContacts(t: ExecutionContext, count = 6) {
	const jobs = await setupJobs(t)
	const rows = await jobs.execute<{ id: string }>(
		`insert into contacts (project_id, email, subscribed, data)
		select ?, 'c' || i || '@example.org', i % 2 = 0,
			jsonb_build_object('plan', case when i % 3 = 0 then 'pro' else 'free' end)
		from generate_series(0, ?) i order by i returning id`,
		[jobs.project.id, count - 1],
	)
	const subscribed = async () =>
		(
			await jobs.execute<{ email: string }>(
				'select email from contacts where subscribed order by email',
			)
		).map(({ email }) => email.split('@')[0])
	return { ...jobs, ids: rows.map(({ id }) => id), subscribed }
}

test('a job that subscribes leaves out people who have unsubscribed since it was accepted', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import(
		'email,subscribed\na@example.org,yes\nb@example.org,yes\nc@example.org,no\nd@example.org,no\n',
	)
	const idOf = async (name: string) => (await jobs.contact(`${name}@example.org`))!.id
	const bulk = await jobs.call('POST', '/contacts/bulk-subscribe', { mode: 'query', filter: {} })
	t.is(bulk.statusCode, 202, bulk.body)
	const file = await jobs.upload('email,subscribed\nb@example.org,yes\n')
	// d was unsubscribed already, and says so again.
	for (const name of ['a', 'b', 'd'])
		t.is(
			(await jobs.app.inject({ method: 'POST', url: `/unsubscribe/${await idOf(name)}` }))
				.statusCode,
			200,
		)
	for (const accepted of [bulk, file]) await jobs.run(accepted.json().jobId)
	for (const [name, subscribed] of [
		['a', false],
		['b', false],
		['c', true],
		['d', false],
	] as const)
		t.is((await jobs.contact(`${name}@example.org`))!.subscribed, subscribed, name)
	t.like(await jobs.job(bulk.json().jobId, 'bulk'), {
		result: { successCount: 1, unchangedCount: 3 },
	})
})

test('a person who leaves while an earlier job unsubscribes others is not subscribed by a later one', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email,subscribed\na@example.org,yes\nb@example.org,yes\n')
	const all = { mode: 'query', filter: {} }
	const leaving = await jobs.call('POST', '/contacts/bulk-unsubscribe', all)
	const coming = await jobs.call('POST', '/contacts/bulk-subscribe', all)
	await jobs.run(leaving.json().jobId)
	const { id } = (await jobs.contact('a@example.org'))!
	await jobs.app.inject({ method: 'POST', url: `/unsubscribe/${id}` })
	await jobs.run(coming.json().jobId)
	t.is((await jobs.contact('a@example.org'))!.subscribed, false)
	t.is((await jobs.contact('b@example.org'))!.subscribed, true)
})

test('a job that takes a bulk unsubscription back leaves out people who have left since', async (t) => {
	const { call, run, app, ids, subscribed } = await setupContacts(t)
	const chosen = { contactIds: ids }
	const leaving = (await call('POST', '/contacts/bulk-unsubscribe', chosen)).json().jobId
	await app.inject({ method: 'POST', url: `/unsubscribe/${ids[0]}` })
	await run(leaving)
	await app.inject({ method: 'POST', url: `/unsubscribe/${ids[2]}` })
	const undo = await call('POST', '/contacts/bulk-subscribe', { ...chosen, undoes: leaving })
	t.is(undo.statusCode, 202, undo.body)
	await run(undo.json().jobId)
	t.deepEqual(await subscribed(), ['c1', 'c3', 'c4', 'c5'])
})

test('only a bulk unsubscription of this project is taken back, and only by subscribing', async (t) => {
	const { call, ids } = await setupContacts(t)
	const chosen = { contactIds: ids }
	const leaving = (await call('POST', '/contacts/bulk-unsubscribe', chosen)).json().jobId
	const coming = (await call('POST', '/contacts/bulk-subscribe', chosen)).json().jobId
	for (const undoes of [randomUUID(), coming])
		isEnvelope(
			t,
			await call('POST', '/contacts/bulk-subscribe', { ...chosen, undoes }),
			404,
			'RESOURCE_NOT_FOUND',
		)
	for (const act of ['unsubscribe', 'delete'])
		isEnvelope(
			t,
			await call('POST', `/contacts/bulk-${act}`, { ...chosen, undoes: leaving }),
			422,
			'VALIDATION_ERROR',
		)
})

test('a job that subscribes leaves out people whom others have unsubscribed since it was accepted', async (t) => {
	const jobs = await setupJobs(t)
	const names = ['post', 'patch', 'track', 'send', 'complaint', 'silent']
	const addresses = (subscribed: string) =>
		`email,subscribed\n${names.map((name) => `${name}@example.org,${subscribed}\n`).join('')}`
	await jobs.import(addresses('yes'))
	const all = { mode: 'query', filter: {} }
	const leaving = await jobs.call('POST', '/contacts/bulk-unsubscribe', all)
	const coming = await jobs.call('POST', '/contacts/bulk-subscribe', all)
	const file = await jobs.upload(`${addresses('yes')}new@example.org,yes\n`)
	// Some are unsubscribed already when it is said again.
	await jobs.call('POST', '/contacts', { email: 'post@example.org', subscribed: false })
	await jobs.run(leaving.json().jobId)
	await unsubscribe(jobs)
	for (const accepted of [coming, file]) await jobs.run(accepted.json().jobId)
	for (const name of [...names, 'new'])
		t.is((await jobs.contact(`${name}@example.org`))!.subscribed, name === 'silent', name)
})

/** By each of the ways in which one contact is unsubscribed, other than by the person. */
async function unsubscribe(jobs: Awaited<ReturnType<typeof setupJobs>>) {
	const { app, contact, execute, project, withPublicKey, withSecretKey } = jobs
	const id = (await contact('patch@example.org'))!.id
	const verified = `insert into domains (project_id, domain, verified_at) values (?, 'example.com', now())`
	await execute(verified, [project.id])
	const subscribed = false
	const mail = { from: 'shop@example.com', subject: 'Bye', body: 'Bye', subscribed }
	for (const [method, url, payload, headers = withSecretKey] of [
		['PATCH', `/contacts/${id}`, { subscribed }],
		['POST', '/v1/track', { email: 'track@example.org', event: 'left', subscribed }, withPublicKey],
		['POST', '/v1/send', { ...mail, to: ['send@example.org', 'new@example.org'] }],
		['POST', '/v1/send', { ...mail, subscribed: null, to: 'complaint@example.org' }],
	] as const) {
		const { statusCode, body } = await app.inject({ method, url, payload, headers })
		if (statusCode !== 200) throw new Error(`${url}: ${body}`)
	}
	await execute(`insert into events (project_id, name, email_id, data)
		select project_id, 'email.complaint', id, '{}' from emails where "to" = 'complaint@example.org'`)
}

test('a job that subscribes leaves out a person who unsubscribes while it waits for another contact', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email,subscribed\na@example.org,no\nb@example.org,yes\n')
	const [first, second] = await jobs.execute<{ id: string }>('select id from contacts order by id')
	const contactIds = [first!.id, second!.id]
	const { jobId } = (await jobs.call('POST', '/contacts/bulk-subscribe', { contactIds })).json()
	const holder = await jobs.pool.connect()
	await holder.query('begin')
	await holder.query('select from contacts where id = $1 for update', [first!.id])
	const chunk = transaction(jobs.pool, (db) =>
		doChunk(db, 'bulk-subscribe', { projectId: jobs.project.id, jobId, field: null }),
	)
	await lockWaits(t, jobs.pool, 1)
	const left = await jobs.app.inject({ method: 'POST', url: `/unsubscribe/${second!.id}` })
	t.is(left.statusCode, 200)
	await holder.query('rollback')
	holder.release()
	await chunk
	t.true((await jobs.contact('a@example.org'))!.subscribed)
	t.false((await jobs.contact('b@example.org'))!.subscribed)
})

test('of two jobs, the later one decides, although both run after it was accepted', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email,subscribed\na@example.org,yes\n')
	const all = { mode: 'query', filter: {} }
	const leaving = await jobs.call('POST', '/contacts/bulk-unsubscribe', all)
	const coming = await jobs.call('POST', '/contacts/bulk-subscribe', all)
	for (const accepted of [leaving, coming]) await jobs.run(accepted.json().jobId)
	t.is((await jobs.contact('a@example.org'))!.subscribed, true)
})

test('subscribing emits one event for each contact that was not subscribed, and none for others', async (t) => {
	const jobs = await setupContacts(t)
	const unknown = randomUUID()
	const job = await jobs.bulk('subscribe', { contactIds: [...jobs.ids, unknown, jobs.ids[0]] })
	t.like(job, { type: 'bulk-subscribe', state: 'completed', progress: 100 })
	t.deepEqual(job.result, {
		operation: 'subscribe',
		totalRequested: 7,
		successCount: 3,
		unchangedCount: 3,
		failureCount: 1,
		errors: [{ contactId: unknown, email: null, error: 'There is no such contact' }],
	} as never)
	t.is((await jobs.subscribed()).length, 6)
	t.deepEqual(
		await jobs.eventNames(),
		Array.from({ length: 3 }, () => 'contact.subscribed'),
	)
})

test('unsubscribing is the same the other way round', async (t) => {
	const jobs = await setupContacts(t)
	const job = await jobs.bulk('unsubscribe', { mode: 'ids', contactIds: jobs.ids.slice(0, 3) })
	t.like(job.result, { operation: 'unsubscribe', successCount: 2, unchangedCount: 1 })
	t.deepEqual(await jobs.subscribed(), ['c4'])
	t.deepEqual(await jobs.eventNames(), ['contact.unsubscribed', 'contact.unsubscribed'])
})

test('the mails of deleted contacts stay, without them', async (t) => {
	const jobs = await setupContacts(t)
	await jobs.execute(
		`insert into emails (project_id, contact_id, "to", "from", subject, source_type)
		values (?, ?, 'c1@example.org', 'app@example.com', 'Hello', 'TRANSACTIONAL')`,
		[jobs.project.id, jobs.ids[1]!],
	)
	const job = await jobs.bulk('delete', { contactIds: jobs.ids.slice(0, 2) })
	t.like(job.result, { operation: 'delete', successCount: 2, unchangedCount: 0, failureCount: 0 })
	t.is(await jobs.contactCount(), 4)
	t.deepEqual(await jobs.execute('select contact_id, "to" from emails'), [
		{ contact_id: null, to: 'c1@example.org' },
	])
})

test('contacts of another project are not found', async (t) => {
	const jobs = await setupContacts(t)
	const { project } = await createProject(jobs.orm)
	const [foreign] = await jobs.execute<{ id: string }>(
		`insert into contacts (project_id, email, subscribed) values (?, 'x@example.org', true) returning id`,
		[project.id],
	)
	const job = await jobs.bulk('delete', { contactIds: [foreign!.id] })
	t.like(job.result, { successCount: 0, failureCount: 1 })
	t.is(await jobs.contactCount(), 7)
})

test('a filter finds its contacts once, though the job makes it untrue; excluded ones are left alone', async (t) => {
	const jobs = await setupContacts(t, 2503)
	const job = await jobs.bulk('unsubscribe', {
		mode: 'query',
		filter: { subscribed: true },
		excludeIds: [jobs.ids[0]],
	})
	t.like(job.result, { totalRequested: 1251, successCount: 1251, failureCount: 0 })
	t.deepEqual(await jobs.subscribed(), ['c0'])
})

test('all parts of a filter must match: search, subscription, segment and condition', async (t) => {
	const jobs = await setupContacts(t, 40)
	const [segment] = await jobs.execute<{ id: string }>(
		`insert into segments (project_id, name, type, condition) values (?, 'Pro', 'DYNAMIC', ?::jsonb) returning id`,
		[jobs.project.id, JSON.stringify(condition('data.plan', 'equals', 'pro'))],
	)
	const filter = {
		search: ' C1 ',
		subscribed: true,
		segmentId: segment!.id,
		condition: condition('email', 'notEquals', 'c18@example.org'),
	}
	// Matches c1 and c10 to c19; of these, c12 and c18 are even and every third; c18 is excluded
	const job = await jobs.bulk('delete', { mode: 'query', filter })
	t.like(job.result, { totalRequested: 1, successCount: 1 })
	t.is(await jobs.contact('c12@example.org'), undefined)
})

const condition = (field: string, operator: string, value: unknown) => ({
	logic: 'AND',
	groups: [{ filters: [{ field, operator, value }] }],
})

/** A job for all contacts outside the VIP segment; c0 is in it. */
async function outsideVips(t: ExecutionContext) {
	const jobs = await setupContacts(t)
	const { id } = (await jobs.call('POST', '/segments', { name: 'VIP', type: 'STATIC' })).json()
	await jobs.call('POST', `/segments/${id}/members`, { emails: ['c0@example.org'] })
	const filters = [{ field: `segment.${id}`, operator: 'notMemberOfSegment' }]
	const ask = async (filter: object) => {
		const answer = await jobs.call('POST', '/contacts/bulk-delete', { mode: 'query', filter })
		t.is(answer.statusCode, 202)
		t.is(answer.headers['location'], `/contacts/bulk/${answer.json().jobId}`)
		return answer.json<{ jobId: string }>().jobId
	}
	return {
		...jobs,
		ask,
		segmentId: id as string,
		outside: { condition: { logic: 'AND', groups: [{ filters }] } },
		deleteSegment: async () => t.is((await jobs.call('DELETE', `/segments/${id}`)).statusCode, 204),
	}
}

test('a job whose segment is deleted before its turn fails with a reason and changes no contact', async (t) => {
	const jobs = await outsideVips(t)
	const asked = [await jobs.ask(jobs.outside), await jobs.ask({ segmentId: jobs.segmentId })]
	await jobs.deleteSegment()
	for (const jobId of asked) {
		await jobs.run(jobId)
		const failedReason = 'The filter names a segment that was deleted'
		t.like(await jobs.job(jobId, 'bulk'), { state: 'failed', failedReason })
	}
	t.is(await jobs.contactCount(), 6)
	t.deepEqual(await jobs.execute('select from job_contacts'), [])
})

test('a segment that is deleted while a job selects its contacts counts as it was', async (t) => {
	const jobs = await outsideVips(t)
	const jobId = await jobs.ask(jobs.outside)
	const other = await jobs.pool.connect()
	t.teardown(() => other.release())
	await other.query('begin; lock table job_contacts')
	const running = jobs.run(jobId)
	await lockWaits(t, jobs.pool, 1)
	await jobs.deleteSegment()
	await other.query('commit')
	await running
	t.like(await jobs.job(jobId, 'bulk'), { state: 'completed', result: { successCount: 5 } })
	t.not(await jobs.contact('c0@example.org'), undefined)
})

/** Selects the contacts of a job by turns of a single page, and acts after the first. */
async function selectInTurns(
	t: ExecutionContext,
	between: (segmentId: string, jobs: Jobs) => Promise<void>,
) {
	const jobs = await setupContacts(t, 7000)
	const filter = {
		logic: 'AND',
		groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
	}
	const segment = await jobs.call('POST', '/segments', {
		name: 'Pro',
		type: 'DYNAMIC',
		condition: filter,
	})
	t.is(segment.statusCode, 201, segment.body)
	const segmentId = segment.json<{ id: string }>().id
	const asked = { mode: 'query', filter: { segmentId } }
	const { jobId } = (await jobs.call('POST', '/contacts/bulk-unsubscribe', asked)).json()
	const [key] = [{ projectId: jobs.project.id, jobId }]
	await beginJob(jobs.pool, key)
	const ends = []
	for (let turn = 1; turn <= 10; turn++) {
		const [job] = await jobs.execute<{ target: BulkTarget }>(
			'select target from jobs where id = ?',
			[jobId],
		)
		if (!job!.target) break
		ends.push(await setTarget(jobs.pool, key, job!.target, () => true))
		if (ends.at(-1) !== 'needs another turn') break
		if (turn === 1) await between(segmentId, jobs)
	}
	const [found] = await jobs.execute<{ contacts: number }>(
		`select coalesce(sum(cardinality(contact_ids)), 0)::int as contacts from job_contacts where job_id = ?`,
		[jobId],
	)
	return { ...jobs, jobId, ends, contacts: found!.contacts }
}
type Jobs = Awaited<ReturnType<typeof setupContacts>>

test('a job whose contacts take several turns to find selects by its filter as it was in the first', async (t) => {
	const { run, job, jobId, ends, contacts } = await selectInTurns(t, async (segmentId, jobs) => {
		const nobody = {
			logic: 'AND',
			groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'no' }] }],
		}
		await jobs.call('POST', '/contacts', { email: 'late@example.org', data: { plan: 'pro' } })
		const edited = await jobs.call('PATCH', `/segments/${segmentId}`, { condition: nobody })
		t.is(edited.statusCode, 200, edited.body)
	})
	t.true(ends.length >= 3, `${ends.length}`)
	t.is(ends.at(-1), 'is set')
	t.is(contacts, 2334)
	await run(jobId)
	t.like((await job(jobId, 'bulk')).result, { totalRequested: 2334, successCount: 1167 })
})

test('a segment that is deleted between the turns of a job ends the job before it changes a contact', async (t) => {
	const { job, jobId, ends, subscribed } = await selectInTurns(t, async (segmentId, jobs) => {
		t.is((await jobs.call('DELETE', `/segments/${segmentId}`)).statusCode, 204)
	})
	t.deepEqual(ends, ['needs another turn', 'has failed'])
	const failedReason = 'The filter names a segment that was deleted'
	t.like(await job(jobId, 'bulk'), { state: 'failed', failedReason })
	t.is((await subscribed()).length, 3500)
})

test('a job can remove a field from every contact that has it', async (t) => {
	const jobs = await setupContacts(t)
	await jobs.execute(`update contacts set data = '{}' where id = ?`, [jobs.ids[0]])
	const [accepted] = await acceptBulkJob(jobs.pool, {
		undoes: null,
		projectId: jobs.project.id,
		type: 'delete-field',
		contactIds: null,
		target: { field: 'plan' },
		taskQueue: 'core',
	})
	await jobs.run(accepted!.id)
	const { result } = await jobs.job(accepted!.id, 'bulk')
	t.like(result, { operation: 'delete-field', totalRequested: 5, successCount: 5 })
	t.deepEqual(await jobs.execute(`select distinct data from contacts`), [{ data: {} }])
})

test('a search takes percent signs and underscores literally', async (t) => {
	const jobs = await setupContacts(t)
	await jobs.execute(`update contacts set email = 'a_b%c@example.org' where id = ?`, [jobs.ids[0]])
	await jobs.execute(`update contacts set email = 'axbyc@example.org' where id = ?`, [jobs.ids[1]])
	const job = await jobs.bulk('delete', { mode: 'query', filter: { search: 'A_B%' } })
	t.like(job.result, { totalRequested: 1, successCount: 1 })
})

test('a job continues after a crash without doing anything twice', async (t) => {
	const jobs = await setupContacts(t, 2500)
	const payload = { mode: 'query', filter: {} }
	const { jobId } = (await jobs.call('POST', '/contacts/bulk-subscribe', payload)).json()
	const goOn = await jobs.breakAt(jobId, 1000)
	await t.throwsAsync(jobs.run(jobId), { message: /no further/ })
	t.like(await jobs.job(jobId, 'bulk'), { state: 'active', progress: 40 })
	await goOn()
	await Promise.all([jobs.run(jobId), jobs.run(jobId)])
	const { result } = await jobs.job(jobId, 'bulk')
	t.like(result, { totalRequested: 2500, successCount: 1250, unchangedCount: 1250 })
	t.is((await jobs.eventNames()).length, 1250)
})

test('a second attempt that selected the contacts of a finished job repeats nothing', async (t) => {
	const jobs = await setupContacts(t)
	const answer = await jobs.call('POST', '/contacts/bulk-unsubscribe', {
		mode: 'query',
		filter: {},
	})
	const { jobId } = answer.json<{ jobId: string }>()
	await jobs.run(jobId)
	const key = { projectId: jobs.project.id, jobId }
	await t.throwsAsync(
		setTarget(jobs.pool, key, {}, () => false),
		{
			message: /already started, or it has ended/,
		},
	)
	t.deepEqual(await jobs.execute('select 1 from job_contacts'), [])
	t.like((await jobs.job(jobId, 'bulk')).result, { totalRequested: 6, successCount: 3 })
})

test('a cancelled job stops, keeps its finished work, and cannot be cancelled again', async (t) => {
	const jobs = await setupContacts(t)
	const { jobId } = (
		await jobs.call('POST', '/contacts/bulk-delete', { contactIds: jobs.ids })
	).json()
	const cancelled = await jobs.call('DELETE', `/contacts/bulk/${jobId}`)
	t.is(cancelled.statusCode, 200)
	t.like(cancelled.json(), { id: jobId, state: 'cancelled', result: { successCount: 0 } })
	await jobs.run(jobId)
	t.is(await jobs.contactCount(), 6)
	isEnvelope(t, await jobs.call('DELETE', `/contacts/bulk/${jobId}`), 409, 'CONFLICT')
})

test('a job must name its contacts in the way of its mode', async (t) => {
	const jobs = await setupJobs(t)
	const cases: [object, string, string][] = [
		[{}, 'contactIds', 'required'],
		[{ contactIds: [] }, 'contactIds', 'too_small'],
		[{ contactIds: Array.from({ length: 1001 }, () => randomUUID()) }, 'contactIds', 'too_big'],
		[{ contactIds: ['x'] }, 'contactIds.0', 'invalid_string'],
		[{ mode: 'all' }, 'mode', 'invalid_enum_value'],
		[{ mode: 'query', contactIds: [randomUUID()] }, 'filter', 'required'],
		[{ mode: 'query', filter: { subscribed: 'yes' } }, 'filter.subscribed', 'invalid_type'],
		[{ mode: 'query', filter: { segment: 'x' } }, 'filter.segment', 'unrecognized_keys'],
		[{ mode: 'query', filter: {}, exclude: [] }, 'exclude', 'unrecognized_keys'],
		[{ mode: 'query', filter: { search: '' } }, 'filter.search', 'invalid_string'],
		[{ mode: 'query', filter: { search: ' \t' } }, 'filter.search', 'invalid_string'],
		[{ mode: 'query', filter: {}, contactIds: [randomUUID()] }, 'contactIds', 'custom'],
		[{ contactIds: [randomUUID()], filter: { subscribed: true } }, 'filter', 'custom'],
		[{ contactIds: [randomUUID()], excludeIds: [randomUUID()] }, 'excludeIds', 'custom'],
		[
			{ mode: 'query', filter: { condition: condition('email', 'contains', ' ') } },
			'filter.condition.groups.0.filters.0.value',
			'too_small',
		],
		[
			{ mode: 'query', filter: { condition: condition('email', 'near', 'x') } },
			'filter.condition.groups.0.filters.0.operator',
			'invalid_enum_value',
		],
	]
	for (const [body, field, code] of cases) {
		const answer = await jobs.call('POST', '/contacts/bulk-delete', body)
		const error = isEnvelope(t, answer, 422, 'VALIDATION_ERROR')
		t.like(error.errors[0], { field, code }, JSON.stringify(body).slice(0, 100))
	}
	const filter = { segmentId: randomUUID() }
	const answer = await jobs.call('POST', '/contacts/bulk-delete', { mode: 'query', filter })
	isEnvelope(t, answer, 404, 'RESOURCE_NOT_FOUND')
	t.deepEqual(await jobs.execute('select id from jobs'), [])
})

test('jobs of other projects and of other kinds are not found', async (t) => {
	const jobs = await setupContacts(t)
	const { withSecretKey } = await createProject(jobs.orm)
	const { jobId } = (
		await jobs.call('POST', '/contacts/bulk-delete', { contactIds: jobs.ids })
	).json()
	const foreign = { method: 'GET', url: `/contacts/bulk/${jobId}`, headers: withSecretKey } as const
	isEnvelope(t, await jobs.app.inject(foreign), 404, 'RESOURCE_NOT_FOUND')
	isEnvelope(t, await jobs.app.inject({ ...foreign, method: 'DELETE' }), 404, 'RESOURCE_NOT_FOUND')
	isEnvelope(t, await jobs.call('GET', `/contacts/import/${jobId}`), 404, 'RESOURCE_NOT_FOUND')
	isEnvelope(t, await jobs.call('GET', '/contacts/bulk/nonsense'), 404, 'RESOURCE_NOT_FOUND')
})

test('a job deletes a field from every contact and from the list of fields, but in no other project', async (t) => {
	const jobs = await setupContacts(t, 2500)
	const other = await createProject(jobs.orm)
	await jobs.execute(
		`insert into contacts (project_id, email, subscribed, data) values (?, 'x@example.org', true, '{"plan": "pro"}')`,
		[other.project.id],
	)
	// Too many for a request to wait for.
	await jobs.execute(
		`insert into contact_fields (project_id, key, type, count) values (?, 'plan', 'string', 100001)
		on conflict (project_id, key, type) do update set count = excluded.count`,
		[jobs.project.id],
	)
	const { jobId } = (await jobs.call('DELETE', '/contacts/fields/plan')).json<{ jobId: string }>()
	await jobs.execute(`update contact_fields set count = 0 where key = 'plan'`)
	await jobs.run(jobId)
	const job = await jobs.job(jobId, 'bulk')
	t.like(job, { state: 'completed', progress: 100 })
	t.like(job.result, { operation: 'delete-field', successCount: 2500, failureCount: 0 })
	const rows = await jobs.execute(
		`select project_id = ? as mine, count(*)::int from contacts where data ? 'plan' group by 1`.replace(
			'data ?',
			'data \\?',
		),
		[jobs.project.id],
	)
	t.deepEqual(rows, [{ mine: false, count: 1 }])
})
