import test from 'ava'
import { applyChunk, recordApplied } from '../db/imports/import-applying.ts'
import { transaction } from '../db/transaction.ts'
import { createProject } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { setupJobs } from './helpers/jobs.ts'
import { lockWaits } from './helpers/locks.ts'

test('an undo deletes created contacts, restores changed ones, and leaves the rest', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email,subscribed,city\nold@example.org,no,Paris\nsame@example.org,yes,Rome\n')
	const done = await jobs.import(
		'email,subscribed,city,plan\nold@example.org,yes,Lyon,pro\nsame@example.org,yes,Rome,\nnew@example.org,yes,Bonn,pro\n',
	)
	const undo = await jobs.undo(done.id)
	t.like(undo, { type: 'undo', state: 'completed', progress: 100 })
	t.deepEqual(undo.result, { restored: 1, removed: 1, skipped: 0 } as never)
	t.deepEqual((await jobs.call('GET', `/contacts/import/${done.id}`)).json().undo, {
		jobId: undo.id,
		state: 'completed',
	})
	t.like(await jobs.contact('old@example.org'), { subscribed: false, data: { city: 'Paris' } })
	t.deepEqual((await jobs.contact('old@example.org'))?.data, { city: 'Paris' })
	t.like(await jobs.contact('same@example.org'), { subscribed: true, data: { city: 'Rome' } })
	t.is(await jobs.contact('new@example.org'), undefined)
	t.deepEqual(await jobs.eventNames(), ['contact.subscribed', 'contact.unsubscribed'])
})

test('a contact that was changed since the import is skipped, even after a short change', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email,city\na@example.org,Paris\nb@example.org,Paris\n')
	const { id } = await jobs.import(
		'email,city\na@example.org,Rome\nb@example.org,Rome\nc@example.org,Rome\nd@example.org,Rome\n',
	)
	const contactId = async (name: string) => (await jobs.contact(`${name}@example.org`))!.id
	const patch = async (name: string, body: object) =>
		jobs.call('PATCH', `/contacts/${await contactId(name)}`, body)
	await patch('a', { data: { city: 'Bonn' } })
	await patch('b', { subscribed: false })
	await patch('b', { subscribed: true })
	await patch('c', { email: 'moved@example.org' })
	t.deepEqual((await jobs.undo(id)).result, { restored: 0, removed: 1, skipped: 3 } as never)
	t.is((await jobs.contact('a@example.org'))?.data['city'], 'Bonn')
	t.is((await jobs.contact('b@example.org'))?.data['city'], 'Rome')
	t.truthy(await jobs.contact('moved@example.org'))
	t.is(await jobs.contact('d@example.org'), undefined)
})

test('imports undone in reverse order restore the start, even after an undo and a repeat', async (t) => {
	const jobs = await setupJobs(t)
	const created = await jobs.call('POST', '/contacts', { email: 'old@example.org', data: { n: 0 } })
	t.is(created.statusCode, 201)
	const start = await jobs.contact('old@example.org')
	const csv = (n: number) =>
		`email,subscribed,n\nold@example.org,${n % 2 === 0},${n}\nnew@example.org,yes,${n}\n`
	const first = await jobs.import(csv(1))
	const second = await jobs.import(csv(2))
	t.like((await jobs.undo(second.id)).result, { restored: 2, skipped: 0 })
	const again = await jobs.import(csv(2))
	const third = await jobs.import(csv(3))
	for (const { id } of [third, again])
		t.deepEqual((await jobs.undo(id)).result, { restored: 2, removed: 0, skipped: 0 } as never)
	t.deepEqual((await jobs.undo(first.id)).result, {
		restored: 1,
		removed: 1,
		skipped: 0,
	} as never)
	const end = await jobs.contact('old@example.org')
	t.deepEqual([end!.subscribed, end!.data], [start!.subscribed, start!.data])
	t.is(await jobs.contactCount(), 1)
})

test('a contact that was changed between two imports, or after an undo, is skipped by the first’s undo', async (t) => {
	const jobs = await setupJobs(t)
	const csv = (n: number) => `email,n\na@example.org,${n}\nb@example.org,${n}\n`
	const patch = async (name: string) => {
		const { id } = (await jobs.contact(`${name}@example.org`))!
		await jobs.call('PATCH', `/contacts/${id}`, { data: { n: 'x' } })
		await jobs.call('PATCH', `/contacts/${id}`, { data: { n: '1' } })
	}
	const first = await jobs.import(csv(1))
	await patch('a')
	const second = await jobs.import(csv(2))
	t.like((await jobs.undo(second.id)).result, { restored: 2, skipped: 0 })
	await patch('b')
	t.deepEqual((await jobs.undo(first.id)).result, { restored: 0, removed: 0, skipped: 2 } as never)
	t.is(await jobs.contactCount(), 2)
})

test('a change within the millisecond of the import is noticed', async (t) => {
	const jobs = await setupJobs(t)
	const { id } = await jobs.import('email,city\na@example.org,Paris\n')
	await jobs.execute(`update contacts set data = '{"city":"Rome"}'`)
	t.deepEqual((await jobs.undo(id)).result, { restored: 0, removed: 0, skipped: 1 } as never)
})

test('an undo subscribes nobody who has unsubscribed since, even if the import had unsubscribed them', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email,subscribed\na@example.org,yes\nb@example.org,yes\n')
	const { id } = await jobs.import('email,subscribed\na@example.org,no\nb@example.org,no\n')
	const { id: contactId } = (await jobs.contact('a@example.org'))!
	const left = await jobs.app.inject({ method: 'POST', url: `/unsubscribe/${contactId}` })
	t.true(left.statusCode < 400, left.body)
	t.deepEqual((await jobs.undo(id)).result, { restored: 1, removed: 0, skipped: 1 } as never)
	t.is((await jobs.contact('a@example.org'))!.subscribed, false)
	t.is((await jobs.contact('b@example.org'))!.subscribed, true)
	t.is((await jobs.eventNames()).filter((name) => name === 'contact.unsubscribed').length, 2)
})

test('an undo changes nobody whom others have unsubscribed or listed again since', async (t) => {
	const jobs = await setupJobs(t)
	const names = ['post', 'patch', 'track', 'bulk', 'file', 'send']
	const csv = (subscribed: string, ...names: string[]) =>
		`email,subscribed\n${names.map((name) => `${name}@example.org,${subscribed}\n`).join('')}`
	const idOf = async (name: string) => (await jobs.contact(`${name}@example.org`))!.id
	await jobs.import(csv('yes', ...names))
	const { id } = await jobs.import(csv('no', ...names, 'new'))
	const ok = ({ statusCode, body }: { statusCode: number; body: string }) =>
		t.true(statusCode < 300, body)
	ok(await jobs.call('POST', '/contacts', { email: 'post@example.org', subscribed: false }))
	ok(await jobs.call('PATCH', `/contacts/${await idOf('patch')}`, { subscribed: false }))
	const track = { email: 'track@example.org', event: 'left', subscribed: false }
	ok(
		await jobs.app.inject({
			method: 'POST',
			url: '/v1/track',
			headers: jobs.withPublicKey,
			payload: track,
		}),
	)
	t.like(await jobs.bulk('unsubscribe', { contactIds: [await idOf('bulk')] }), {
		result: { successCount: 0, unchangedCount: 1 },
	})
	await jobs.execute(
		`insert into domains (project_id, domain, verified_at) values (?, 'example.com', now())`,
		[jobs.project.id],
	)
	const mail = { from: 'shop@example.com', subject: 'Bye', body: 'Bye', subscribed: false }
	ok(await jobs.call('POST', '/v1/send', { ...mail, to: 'send@example.org' }))
	t.like(await jobs.import(csv('no', 'file', 'new')), { state: 'completed' })
	t.deepEqual((await jobs.undo(id)).result, { restored: 0, removed: 0, skipped: 7 } as never)
	for (const name of [...names, 'new'])
		t.is((await jobs.contact(`${name}@example.org`))!.subscribed, false, name)
})

test('an import subscribes nobody who was created unsubscribed as a member of a segment since it was accepted', async (t) => {
	const jobs = await setupJobs(t)
	const email = 'a@example.org'
	const { id } = (await jobs.call('POST', '/segments', { name: 'Mine', type: 'STATIC' })).json()
	const { jobId } = (await jobs.upload(`email,subscribed\n${email},yes\n`)).json()
	const member = { emails: [email], createMissing: true, subscribed: false }
	const added = await jobs.call('POST', `/segments/${id}/members`, member)
	t.like(added.json(), { created: 1 }, added.body)
	await jobs.run(jobId)
	t.false((await jobs.contact(email))!.subscribed)
})

test('an undo takes nobody away who has been subscribed since, even if the import had subscribed them', async (t) => {
	const jobs = await setupJobs(t)
	const names = ['post', 'patch', 'track', 'page', 'bulk', 'send']
	const { id } = await jobs.import(
		`email\n${[...names, 'other'].map((name) => `${name}@example.org\n`).join('')}`,
	)
	const idOf = async (name: string) => (await jobs.contact(`${name}@example.org`))!.id
	const subscribed = true
	const post = (url: string, payload: object, headers = jobs.withPublicKey) =>
		jobs.app.inject({ method: 'POST', url, headers, payload })
	await jobs.execute(
		`insert into domains (project_id, domain, verified_at) values (?, 'example.com', now())`,
		[jobs.project.id],
	)
	const mail = { from: 'shop@example.com', subject: 'Hi', body: 'Hi', to: 'send@example.org' }
	const answers = [
		await jobs.call('POST', '/v1/send', { ...mail, subscribed }),
		await jobs.call('POST', '/contacts', { email: 'post@example.org', subscribed }),
		await jobs.call('PATCH', `/contacts/${await idOf('patch')}`, { subscribed }),
		await post('/v1/track', { email: 'track@example.org', event: 'signup', subscribed }),
		await post(`/contacts/public/${await idOf('page')}/subscribe`, {}),
	]
	for (const { statusCode, body } of answers) t.true(statusCode < 300, body)
	t.like(await jobs.bulk('subscribe', { contactIds: [await idOf('bulk')] }), {
		result: { successCount: 0, unchangedCount: 1 },
	})
	t.deepEqual((await jobs.undo(id)).result, { restored: 0, removed: 1, skipped: 6 } as never)
	for (const name of names) t.true((await jobs.contact(`${name}@example.org`))!.subscribed, name)
	t.deepEqual(
		(await jobs.eventNames()).filter((name) => name.startsWith('contact.')),
		[],
	)
})

test('an undo subscribes nobody whom a request unsubscribes while the import holds the contact', async (t) => {
	const jobs = await setupJobs(t)
	const { project, pool } = jobs
	const person = { email: 'a@example.org', subscribed: true }
	t.is((await jobs.call('POST', '/contacts', person)).statusCode, 201)
	const { jobId } = (await jobs.upload('email,subscribed\na@example.org,no\n')).json()
	const job = { projectId: project.id, jobId }
	t.true(await jobs.act(jobs.activities.stageImport, job))
	const left = await transaction(pool, async (db) => {
		const [chunk] = await applyChunk(db, job)
		t.like(chunk, { changed: 1 })
		const asked = jobs.call('POST', '/contacts', { ...person, subscribed: false })
		await lockWaits(t, pool, 1)
		const { rows, created, changed, failed } = chunk!
		await recordApplied(db, { ...job, rows, created, changed, failed })
		return { asked }
	})
	t.is((await left.asked).statusCode, 200)
	await jobs.run(jobId)
	t.deepEqual((await jobs.undo(jobId)).result, { restored: 0, removed: 0, skipped: 1 } as never)
	t.false((await jobs.contact('a@example.org'))!.subscribed)
})

test('an undo leaves a contact alone that was deleted and created again', async (t) => {
	const jobs = await setupJobs(t)
	const { id } = await jobs.import('email\na@example.org\n')
	await jobs.execute('delete from contacts')
	await jobs.call('POST', '/contacts', { email: 'a@example.org' })
	t.deepEqual((await jobs.undo(id)).result, { restored: 0, removed: 0, skipped: 1 } as never)
	t.is(await jobs.contactCount(), 1)
})

test('an import is undone once; asked together, one wins', async (t) => {
	const jobs = await setupJobs(t)
	const { id } = await jobs.import('email\na@example.org\n')
	const ask = () => jobs.call('POST', `/contacts/import/${id}/undo`)
	// All requests have started before the first can finish.
	const other = await jobs.pool.connect()
	await other.query('begin; select from jobs for update')
	const asked = [ask(), ask(), ask()]
	const waiting = `select from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`
	while ((await jobs.pool.query(waiting)).rowCount! < 3);
	await other.query('commit')
	other.release()
	const answers = await Promise.all(asked)
	t.is(answers.filter(({ statusCode }) => statusCode === 409).length, 2)
	const { jobId } = answers.find(({ statusCode }) => statusCode === 202)!.json()
	await jobs.run(jobId)
	const error = isEnvelope(t, await ask(), 409, 'CONFLICT')
	t.deepEqual(error.details, { jobId, state: 'completed' })
	const [outbox] = await jobs.execute(
		`select workflow_id from outbox where workflow_type = 'undoImport'`,
	)
	t.deepEqual(outbox, { workflow_id: `undo/${jobId}` })
})

test('a cancelled undo can be requested again and does the rest', async (t) => {
	const jobs = await setupJobs(t)
	const { id } = await jobs.import('email\na@example.org\n')
	const { jobId } = (await jobs.call('POST', `/contacts/import/${id}/undo`)).json()
	t.is((await jobs.call('DELETE', `/contacts/import/${jobId}`)).json().state, 'cancelled')
	await jobs.run(jobId)
	t.is(await jobs.contactCount(), 1)
	t.like((await jobs.undo(id)).result, { removed: 1 })
})

test('only an ended import of the last 7 days can be undone', async (t) => {
	const jobs = await setupJobs(t)
	const { jobId } = (await jobs.upload('email\na@example.org\n')).json()
	const ask = (id: string) => jobs.call('POST', `/contacts/import/${id}/undo`)
	isEnvelope(t, await ask(jobId), 409, 'CONFLICT')
	await jobs.run(jobId)
	await jobs.execute(`update jobs set finished_at = now() - interval '7 days 1 second'`)
	isEnvelope(t, await ask(jobId), 409, 'CONFLICT')
	await jobs.execute(`update jobs set finished_at = now() - interval '6 days 23 hours'`)
	const { jobId: undoId } = (await ask(jobId)).json()
	isEnvelope(t, await ask(undoId), 404, 'RESOURCE_NOT_FOUND')
	isEnvelope(t, await ask('nonsense'), 404, 'RESOURCE_NOT_FOUND')
	const { withSecretKey: headers } = await createProject(jobs.orm)
	const foreign = { method: 'POST', url: `/contacts/import/${jobId}/undo`, headers } as const
	isEnvelope(t, await jobs.app.inject(foreign), 404, 'RESOURCE_NOT_FOUND')
})

test('the changes of a cancelled import can be undone', async (t) => {
	const jobs = await setupJobs(t)
	const rows = Array.from({ length: 4500 }, (_, i) => `${i}@example.org`)
	const { jobId } = (await jobs.upload(['email', ...rows].join('\n'))).json()
	await jobs.cancelWhenAt(jobId, 2000)
	await jobs.run(jobId)
	t.like(await jobs.job(jobId), { state: 'cancelled', result: { createdCount: 2000 } })
	t.like((await jobs.undo(jobId)).result, { removed: 2000 })
	t.is(await jobs.contactCount(), 0)
})
