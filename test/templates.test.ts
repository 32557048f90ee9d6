import test, { type ExecutionContext } from 'ava'
import { Contact } from '../db/contacts/contact.ts'
import { Domain } from '../db/domains/domain.ts'
import { Project } from '../db/projects/project.ts'
import { createProject, setup } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'

const welcome = {
	name: 'Welcome',
	subject: 'Hello {{ name }}',
	body: '<p>Hello {{ name ?? "there" }}, {{ plan }}</p>',
	from: 'Hello@Example.com',
}

async function setupTemplates(t: ExecutionContext) {
	const { app, orm, pool, project, withSecretKey } = await setup(t)
	const em = orm.em.fork()
	em.create(Domain, { projectId: project.id, domain: 'example.com', verifiedAt: new Date() })
	em.create(Domain, { projectId: project.id, domain: 'pending.example' })
	await em.flush()
	const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', body?: object) =>
		app.inject({
			method,
			url: `/templates${path}`,
			headers: withSecretKey,
			...(body ? { body } : {}),
		})
	const create = async (changes: object = {}) => {
		const answer = await call('POST', '', { ...welcome, ...changes })
		t.is(answer.statusCode, 201, answer.body)
		return answer.json()
	}
	return { app, orm, pool, project, withSecretKey, call, create }
}

test('a template is created with its defaults, and read back the same', async (t) => {
	const { call, create, project } = await setupTemplates(t)
	const template = await create()
	t.like(template, {
		...welcome,
		from: 'hello@example.com',
		type: 'MARKETING',
		description: null,
		fromName: null,
		replyTo: null,
		projectId: project.id,
	})
	t.deepEqual((await call('GET', `/${template.id}`)).json(), template)
})

test('a missing text is reported in the simple form, in the order name, subject, body, from', async (t) => {
	const { call } = await setupTemplates(t)
	const body: Record<string, unknown> = {}
	for (const [field, value] of Object.entries(welcome)) {
		const missing = await call('POST', '', body)
		t.is(missing.statusCode, 400)
		t.deepEqual(missing.json(), { error: `${field} is required` })
		const wrong = await call('POST', '', { ...welcome, ...body, [field]: 5 })
		t.is(wrong.statusCode, 400)
		t.deepEqual(Object.keys(wrong.json()), ['error'])
		body[field] = value
	}
})

test('limits on lengths and line breaks are enforced, field by field', async (t) => {
	const { call } = await setupTemplates(t)
	const cases = {
		name: 'x'.repeat(101),
		description: 'x'.repeat(501),
		subject: 'x'.repeat(999),
		fromName: 'Two\nlines',
		replyTo: 'nobody',
		from: 'nobody',
		type: 'SPAM',
		body: '',
	}
	for (const [field, value] of Object.entries(cases)) {
		const answer = await call('POST', '', { ...welcome, [field]: value })
		t.is(answer.statusCode, 422, field)
		t.deepEqual(
			answer.json().error.errors.map((error: { field: string }) => error.field),
			[field],
		)
	}
	t.is((await call('POST', '', { ...welcome, subject: 'a\r\nBcc: x' })).statusCode, 422)
})

test('a template that cannot be read is refused with line and column', async (t) => {
	const { call } = await setupTemplates(t)
	const answer = await call('POST', '', { ...welcome, body: '<p>Hello</p>\n  {% if name %}' })
	t.is(answer.statusCode, 422)
	const [error] = answer.json().error.errors
	t.like(error, { field: 'body', code: 'template_syntax' })
	t.regex(error.message, /line 2, column 3/)
})

test('the sender must be of a verified domain, even when it changes', async (t) => {
	const { call, create } = await setupTemplates(t)
	for (const from of ['a@unknown.example', 'a@pending.example', 'a@sub.example.com']) {
		const answer = await call('POST', '', { ...welcome, from })
		t.is(answer.statusCode, 403)
		t.is(answer.json().error.code, 'INTERNAL_SERVER_ERROR')
	}
	const { id } = await create()
	t.is((await call('PATCH', `/${id}`, { from: 'a@pending.example' })).statusCode, 403)
	t.is(
		(await call('PATCH', `/${id}`, { from: 'other@example.com' })).json().from,
		'other@example.com',
	)
})

test('a change affects the given members, and null clears those that may be empty', async (t) => {
	const { call, create } = await setupTemplates(t)
	const template = await create({ description: 'For new people', replyTo: 'Help@Example.com' })
	t.is(template.replyTo, 'help@example.com')
	const changed = await call('PATCH', `/${template.id}`, {
		subject: 'Hi',
		description: null,
		id: 'x',
	})
	t.is(changed.statusCode, 200)
	const { updatedAt, ...rest } = changed.json()
	const { updatedAt: before, ...expected } = { ...template, subject: 'Hi', description: null }
	t.deepEqual(rest, expected)
	t.true(updatedAt > before)
	t.is((await call('PATCH', `/${template.id}`, { name: null })).statusCode, 422)
	t.is((await call('PATCH', `/${template.id}`, { body: '{% if' })).statusCode, 422)
})

test('with If-Match, only the version that was read is changed', async (t) => {
	const { app, create, withSecretKey } = await setupTemplates(t)
	const { id, updatedAt } = await create()
	const change = (version: string, name: string) =>
		app.inject({
			method: 'PATCH',
			url: `/templates/${id}`,
			headers: { ...withSecretKey, 'if-match': `"${version}"` },
			body: { name },
		})
	const changed = await change(updatedAt, 'Second')
	t.is(changed.statusCode, 200)
	const refused = await change(updatedAt, 'Third')
	t.is(refused.statusCode, 409)
	t.like(refused.json().error, {
		code: 'CONFLICT',
		message: 'This template has changed since it was read',
		details: { updatedAt: changed.json().updatedAt },
	})
	t.is((await change(changed.json().updatedAt, 'Fourth')).json().name, 'Fourth')
})

test('the list is paged, searched, filtered and sorted', async (t) => {
	const { call, create } = await setupTemplates(t)
	for (const name of ['b 100%', 'a', 'c'])
		await create({ name, type: name === 'a' ? 'HEADLESS' : 'MARKETING' })
	const names = async (query: string) => {
		const answer = await call('GET', query)
		t.is(answer.statusCode, 200, answer.body)
		return answer.json().data.map(({ name }: { name: string }) => name)
	}
	t.deepEqual(await names(''), ['c', 'a', 'b 100%'])
	t.deepEqual(await names('?sort=name&dir=asc'), ['a', 'b 100%', 'c'])
	t.deepEqual(await names('?type=HEADLESS'), ['a'])
	t.deepEqual(await names('?search=0%25'), ['b 100%'])
	t.deepEqual(await names('?search=_'), [])
	t.deepEqual(await names('?search=HELLO'), ['c', 'a', 'b 100%'])
	const second = (await call('GET', '?page=2&pageSize=2')).json()
	t.like(second, { page: 2, pageSize: 2, total: 3, totalPages: 2 })
	t.is(second.data.length, 1)
	t.is((await call('GET', '?pageSize=1000')).json().pageSize, 100)
	for (const query of [
		'?page=0',
		'?page=1000000000000000000',
		'?page=1e400',
		'?pageSize=-1e400',
		'?pageSize=x',
		'?type=SPAM',
		'?sort=body',
		'?dir=up',
	])
		t.is((await call('GET', query)).statusCode, 400, query)
})

test('a copy is a template of its own whose name says so, however long', async (t) => {
	const { call, create } = await setupTemplates(t)
	const template = await create({ name: 'x'.repeat(100), type: 'TRANSACTIONAL' })
	const answer = await call('POST', `/${template.id}/duplicate`)
	t.is(answer.statusCode, 201)
	const copy = answer.json()
	t.not(copy.id, template.id)
	t.is(copy.name, `${'x'.repeat(93)} (Copy)`)
	const smile = await create({ name: '😀'.repeat(100) })
	t.is(
		(await call('POST', `/${smile.id}/duplicate`)).json().name,
		`${'😀'.repeat(93)} (Copy)`,
		'no character is cut in halves',
	)
	t.like(copy, { subject: template.subject, type: 'TRANSACTIONAL' })
})

test('the mails of a template are counted for a second at most, then up to 10,000', async (t) => {
	const { call, create, pool, project } = await setupTemplates(t)
	const { id } = await create()
	await pool.query(
		`insert into emails (project_id, "to", "from", subject, source_type, template_id, status, sent_at)
		select $1, 'ann@example.org', 'hello@example.com', 'Hello', 'TRANSACTIONAL', $2, 'SENT', now()
		from generate_series(1, 10001)`,
		[project.id, id],
	)
	const countSent = async () => (await call('GET', `/${id}/usage`)).json().emailsSent
	t.is(await countSent(), 10_001)
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin; lock table emails in access exclusive mode')
	const counted = countSent()
	await lockWaits(t, pool, 1)
	// Like the end of its time.
	await pool.query(`select pg_cancel_backend(pid) from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`)
	await holder.query('rollback')
	t.is(await counted, 10_000)
})

test('deleting a template neither waits for its mails nor changes them', async (t) => {
	const { call, create, app, orm, pool, project } = await setupTemplates(t)
	const { id } = await create()
	const em = orm.em.fork()
	await em.execute(
		`insert into emails (project_id, "to", "from", subject, source_type, template_id, status, sent_at)
		values (?, 'ann@example.org', 'hello@example.com', 'Hello', 'TRANSACTIONAL', ?, 'SENT', now())`,
		[project.id, id],
	)
	t.deepEqual((await call('GET', `/${id}/usage`)).json(), {
		campaigns: [],
		workflowSteps: [],
		emailsSent: 1,
	})
	const holder = await pool.connect()
	await holder.query('begin; select from emails for update')
	const deleted = await call('DELETE', `/${id}`)
	t.is(deleted.statusCode, 204)
	t.is(deleted.body, '')
	await holder.query('rollback')
	holder.release()
	for (const [method, path] of [
		['GET', ''],
		['DELETE', ''],
		['PATCH', ''],
		['POST', '/duplicate'],
		['GET', '/usage'],
		['POST', '/preview'],
	] as const) {
		const answer = await call(method, `/${id}${path}`, method === 'GET' ? undefined : {})
		t.is(answer.statusCode, 404, `${method} ${path}`)
		t.is(answer.json().error.code, 'TEMPLATE_NOT_FOUND')
	}
	t.is((await em.execute('select 1 from emails where template_id = ?', [id])).length, 1)
	await app.close()
})

test('a preview shows the mail as its contact would get it, and unset variables', async (t) => {
	const { call, create, orm, project } = await setupTemplates(t)
	const { id } = await create()
	const plain = await call('POST', `/${id}/preview`, { data: { plan: 'pro' } })
	t.is(plain.statusCode, 200, plain.body)
	t.like(plain.json(), { subject: 'Hello', unset: ['name'] })
	t.regex(plain.json().html, /Hello there, pro/)
	t.regex(plain.json().html, /unsubscribe/i, 'a marketing mail has its footer')
	await orm.em.fork().nativeUpdate(Project, { id: project.id }, { postalAddress: 'A & B\nLondon' })
	const addressed = (await call('POST', `/${id}/preview`, {})).json()
	t.regex(addressed.html, /A &amp; B<br>London/)
	t.regex(addressed.text, /A & B\nLondon/)

	const em = orm.em.fork()
	const contact = em.create(Contact, {
		projectId: project.id,
		email: 'ann@example.org',
		subscribed: true,
		data: { name: '<Ann>', locale: 'de' },
	})
	await em.flush()
	const preview = await call('POST', `/${id}/preview`, { contactId: contact.id })
	t.is(preview.json().subject, 'Hello <Ann>')
	t.regex(preview.json().html, /Hello &lt;Ann&gt;/)
	t.regex(preview.json().html, /lang="de"/)
	t.deepEqual(preview.json().unset, ['plan'])
	t.regex(preview.json().text, /Hello <Ann>/)
	const given = { contactId: contact.id, data: { name: null } }
	const removed = (await call('POST', `/${id}/preview`, given)).json()
	t.regex(removed.text, /Hello there/, 'null removes it, as in a send')
})

test("another project's template, contact and id that is none are all not there", async (t) => {
	const { call, create, app, orm } = await setupTemplates(t)
	const { id } = await create()
	const stranger = await createProject(orm)
	const headers = stranger.withSecretKey
	for (const url of [`/templates/${id}`, `/templates/${id}/usage`])
		t.is((await app.inject({ url, headers })).statusCode, 404)
	t.is((await app.inject({ method: 'DELETE', url: `/templates/${id}`, headers })).statusCode, 404)
	t.is((await app.inject({ url: '/templates', headers })).json().total, 0)
	t.is((await call('GET', '/nonsense')).json().error.code, 'TEMPLATE_NOT_FOUND')
	const theirs = await orm.em
		.fork()
		.execute<{ id: string }[]>(
			`insert into contacts (project_id, email, subscribed) values (?, 'x@example.org', true) returning id`,
			[stranger.project.id],
		)
	const preview = await call('POST', `/${id}/preview`, { contactId: theirs[0]!.id })
	t.is(preview.json().error.code, 'CONTACT_NOT_FOUND')
})
