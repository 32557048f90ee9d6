import test from 'ava'
import type { Pool } from 'pg'
import { createProject } from './helpers/app.ts'
import { type DomainBody, setupDomains } from './helpers/domains.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { lockWaits } from './helpers/locks.ts'

test('with the local provider a domain is verified at once, and mail may be sent from it', async (t) => {
	const { add, call } = await setupDomains(t)
	t.like(await add('Mail.Example.ORG.'), {
		domain: 'mail.example.org',
		verified: true,
		status: 'verified',
	})
	const mail = { to: 'a@example.net', from: 'me@mail.example.org', subject: 'Hi', body: 'Hi' }
	t.is((await call('POST', '/v1/send', mail)).statusCode, 200)
})

test('a project that is deleted while it adds a domain does not get it', async (t) => {
	const { call, pool, project } = await setupDomains(t)
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin')
	await holder.query(
		`update projects set public_id = null, deleted_at = now(), secret_key_digest = uuid_send(id)
		where id = $1`,
		[project.id],
	)
	const added = call('POST', '/domains', { domain: 'late.example.org' })
	await lockWaits(t, pool, 1)
	await holder.query('commit')
	isEnvelope(t, await added, 403, 'PROJECT_ACCESS_DENIED')
	t.is((await pool.query('select from domains')).rowCount, 0)
})

test('a secret key that is replaced while a request to add a domain arrives adds none', async (t) => {
	const { call, pool, project } = await setupDomains(t)
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	await holder.query('begin')
	await holder.query(`update projects set secret_key_digest = uuid_send(id) where id = $1`, [
		project.id,
	])
	const added = call('POST', '/domains', { domain: 'late.example.org' })
	await lockWaits(t, pool, 1)
	await holder.query('commit')
	isEnvelope(t, await added, 403, 'PROJECT_ACCESS_DENIED')
	t.is((await pool.query('select from domains')).rowCount, 0)
})

test('an invalid domain name is a 422', async (t) => {
	const { call } = await setupDomains(t)
	for (const domain of [
		'',
		'example',
		'.com',
		'a..com',
		'-a.com',
		'a-.com',
		'1.2.3.4',
		'http://example.com',
		'a@example.com',
		'example.com/x',
		'exa mple.com',
		`${'a'.repeat(64)}.com`,
		`${'a.'.repeat(127)}com`,
		'a_b.com',
	]) {
		const error = isEnvelope(t, await call('POST', '/domains', { domain }), 422, 'VALIDATION_ERROR')
		t.is(error.errors[0].field, 'domain', domain)
	}
	t.is(
		(await call('POST', '/domains', { domain: 'münchen.example' })).json().domain,
		'xn--mnchen-3ya.example',
	)
})

test('a taken domain is a 409 that does not name its project', async (t) => {
	const { add, app, call, orm } = await setupDomains(t)
	const mine = await add('example.org')
	t.like(
		isEnvelope(t, await call('POST', '/domains', { domain: 'EXAMPLE.org' }), 409, 'CONFLICT')
			.details,
		{
			domain: 'example.org',
			id: mine.id,
		},
	)
	const other = await createProject(orm)
	const answer = await app.inject({
		method: 'POST',
		url: '/domains',
		headers: other.withSecretKey,
		payload: { domain: 'example.org' },
	})
	const error = isEnvelope(t, answer, 409, 'CONFLICT')
	t.deepEqual(error.details, { domain: 'example.org' })
	t.regex(error.message, /verified in another project/)
})

test("the list is this project's alone, newest first; other projects' domains are not there", async (t) => {
	const { add, app, call, orm, project } = await setupDomains(t)
	await add('a.example')
	const newest = await add('b.example')
	const list = (await call('GET', `/domains/project/${project.id}`)).json() as DomainBody[]
	t.deepEqual(
		list.map(({ domain }) => domain),
		['b.example', 'a.example'],
	)
	t.is((list[0] as unknown as { projectId: string }).projectId, project.id)
	t.deepEqual((await call('GET', '/domains/project/@me')).json(), list)
	const other = await createProject(orm)
	const url = `/domains/project/${other.project.id}`
	isEnvelope(t, await call('GET', url), 404, 'RESOURCE_NOT_FOUND')
	isEnvelope(t, await call('GET', '/domains/project/x'), 404, 'RESOURCE_NOT_FOUND')
	for (const [method, path] of [
		['GET', `/domains/${newest.id}/verify`],
		['DELETE', `/domains/${newest.id}`],
	] as const)
		isEnvelope(
			t,
			await app.inject({ method, url: path, headers: other.withSecretKey }),
			404,
			'RESOURCE_NOT_FOUND',
		)
})

test('a domain that mail is sent from is not removed', async (t) => {
	const { add, call } = await setupDomains(t)
	const { id } = await add('example.org')
	const template = { name: 'T', subject: 'S', body: 'B', from: 'Me@Example.ORG' }
	const made = (await call('POST', '/templates', template)).json()
	const { details } = isEnvelope(t, await call('DELETE', `/domains/${id}`), 409, 'CONFLICT')
	t.deepEqual(details, { templates: [{ id: made.id, name: 'T' }], campaigns: [] })
	await call('DELETE', `/templates/${made.id}`)
	const campaign = {
		name: 'C',
		subject: 'S',
		body: 'B',
		from: 'me@example.org',
		audienceType: 'ALL',
	}
	const draft = (await call('POST', '/campaigns', campaign)).json().data
	isEnvelope(t, await call('DELETE', `/domains/${id}`), 409, 'CONFLICT')
	await call('DELETE', `/campaigns/${draft.id}`)
	t.is((await call('DELETE', `/domains/${id}`)).statusCode, 204)
})

/** Domains of a project that are due for their check. */
const addDue = (pool: Pool, projectId: string, count: number) =>
	pool.query(
		`insert into domains (project_id, domain, next_check_at)
		select $1, 'due' || n || '.example', now() - interval '1 hour' from generate_series(1, $2::int) n`,
		[projectId, count],
	)

test('a project has at most 100 domains, even if it adds several at once', async (t) => {
	const { call, pool, project, rival } = await setupDomains(t)
	await addDue(pool, project.id, 99)
	const names = ['a.example', 'b.example', 'c.example', 'd.example']
	const answers = await Promise.all(names.map((domain) => call('POST', '/domains', { domain })))
	t.is(answers.filter(({ statusCode }) => statusCode === 201).length, 1)
	t.is(answers.filter(({ statusCode }) => statusCode === 422).length, 3)
	const error = isEnvelope(
		t,
		await call('POST', '/domains', { domain: 'e.example' }),
		422,
		'VALIDATION_ERROR',
	)
	t.deepEqual(error.errors, [
		{ field: 'domain', message: 'is one too many: a project has at most 100', code: 'too_big' },
	])
	isEnvelope(t, await call('POST', '/domains', { domain: 'due1.example' }), 409, 'CONFLICT')
	await (await rival()).add('f.example')
	const { rows } = await pool.query(`select id from domains where domain = 'due1.example'`)
	t.is((await call('DELETE', `/domains/${rows[0].id}`)).statusCode, 204)
	t.is((await call('POST', '/domains', { domain: 'e.example' })).statusCode, 201)
})

test('the sweep takes turns of projects, however many domains of each are due', async (t) => {
	const { pool, project, rival, sweepDue } = await setupDomains(t)
	await addDue(pool, project.id, 60)
	const other = await rival()
	await other.add('theirs.example')
	await pool.query(
		`update domains set next_check_at = now() - interval '1 minute', last_checked_at = null
		where domain = 'theirs.example'`,
	)
	t.like(await sweepDue(), { checked: 50, isLast: false })
	const [theirs] = await other.list()
	t.truthy((theirs as unknown as { lastCheckedAt: string | null }).lastCheckedAt)
	t.like(await sweepDue(), { checked: 11, isLast: true })
})
