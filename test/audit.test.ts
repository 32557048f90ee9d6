import test, { type ExecutionContext } from 'ava'
import { setup } from './helpers/app.ts'
import { addMember, createUser } from './helpers/people.ts'

interface EntryBody {
	id: string
	actor: { type: string; userId: string | null; name: string }
	action: string
	target: Record<string, string>
	status: number
	ip: string
	userAgent: string | null
	createdAt: string
}

async function setupAudit(t: ExecutionContext) {
	const context = await setup(t)
	const { app, orm, project } = context
	const { user, headers } = await createUser(app, orm, 'owner@example.org')
	await addMember(orm, project, user, 'OWNER')
	const read = async (query = '', id = project.id) =>
		(await app.inject({ url: `/projects/${id}/audit${query}`, headers })).json<{
			data: EntryBody[]
			cursor?: string
			hasMore: boolean
			total: number
		}>()
	type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
	const as = (who: Record<string, string>) => (method: Method, url: string, payload?: object) =>
		app.inject({ method, url, headers: who, ...(payload ? { payload } : {}) })
	return {
		...context,
		user,
		headers,
		read,
		bySession: as({ ...headers, 'x-project-id': project.id }),
		byKey: as(context.withSecretKey),
		actions: async () => (await read()).data.map(({ action }) => action),
	}
}

test('a change is recorded with its author, action, time and origin', async (t) => {
	const { app, read, byKey, headers, user, project, secretKey } = await setupAudit(t)
	const created = await byKey('POST', '/contacts', { email: 'c@example.org' })
	const { id } = created.json<{ id: string }>()
	await app.inject({
		method: 'PATCH',
		url: `/contacts/${id}`,
		headers: {
			...headers,
			'x-project-id': project.id,
			'user-agent': 'Browser/1.0',
			'x-forwarded-for': '203.0.113.9',
		},
		payload: { subscribed: false },
	})
	const { data, total, hasMore } = await read()
	t.is(total, 2)
	t.false(hasMore)
	t.like(data[0], {
		actor: { type: 'user', userId: user.id, name: 'owner@example.org' },
		action: 'PATCH /contacts/{id}',
		target: { id },
		status: 200,
		ip: '203.0.113.9',
		userAgent: 'Browser/1.0',
	})
	t.like(data[1], {
		actor: { type: 'key', userId: null, name: `sk_…${secretKey.slice(-4)}` },
		action: 'POST /contacts',
		target: {},
		status: 201,
		ip: '127.0.0.1',
	})
	t.true(Math.abs(Date.now() - Date.parse(data[0]!.createdAt)) < 60_000)
})

test('reading, sending, tracking and refused requests are not recorded', async (t) => {
	const { app, actions, byKey, bySession, withPublicKey } = await setupAudit(t)
	await byKey('GET', '/contacts')
	await bySession('GET', '/templates')
	await byKey('POST', '/contacts/lookup', { emails: ['c@example.org'] })
	await byKey('POST', '/v1/send', { to: 'c@example.org' })
	t.is((await byKey('POST', '/v1/verify', { email: 'nobody' })).statusCode, 422)
	await byKey('POST', '/events/track', { email: 'c@example.org', event: 'came' })
	await app.inject({
		method: 'POST',
		url: '/v1/track',
		headers: withPublicKey,
		payload: { email: 'c@example.org', event: 'came' },
	})
	t.is((await byKey('POST', '/templates', {})).statusCode, 400)
	t.is((await byKey('DELETE', `/contacts/${crypto.randomUUID()}`)).statusCode, 404)
	t.is((await app.inject({ method: 'POST', url: '/contacts' })).statusCode, 401)
	t.deepEqual(await actions(), [])
})

test('the audit log has every change since the project was created, and survives a reset', async (t) => {
	const { app, headers, read } = await setupAudit(t)
	const call = (method: 'POST' | 'PATCH', path = '', payload?: object) =>
		app.inject({
			method,
			url: `/users/@me/projects${path}`,
			headers,
			...(payload ? { payload } : {}),
		})
	const { id } = (await call('POST', '', { name: 'Shop' })).json<{ id: string }>()
	await call('PATCH', `/${id}`, { name: 'Store' })
	await call('POST', `/${id}/regenerate-keys`)
	await call('POST', `/${id}/reset`)
	await call('PATCH', `/${id}`, { name: 'Boutique' })
	t.deepEqual(
		(await read('', id)).data.map(({ action, target }) => [action, target['id']]),
		[
			['PATCH /users/@me/projects/{id}', id],
			['POST /users/@me/projects/{id}/reset', id],
			['POST /users/@me/projects/{id}/regenerate-keys', id],
			['PATCH /users/@me/projects/{id}', id],
			['POST /users/@me/projects', undefined],
		],
	)
})

test('the audit is read page by page, and ends', async (t) => {
	const { byKey, read } = await setupAudit(t)
	for (let i = 0; i < 5; i++) await byKey('POST', '/contacts', { email: `${i}@example.org` })
	const pages = []
	for (let cursor: string | undefined, more = true; more;) {
		const page = await read(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
		pages.push(page)
		cursor = page.cursor
		more = page.hasMore
	}
	t.deepEqual(
		pages.map(({ data, total }) => [data.length, total]),
		[
			[2, 5],
			[2, 0],
			[1, 0],
		],
	)
	t.is(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size, 5)
	t.false('cursor' in pages[2]!)
})

test('changes are found by user, by kind of caller and by time, and counted', async (t) => {
	const { app, orm, project, read, byKey, bySession, user } = await setupAudit(t)
	const other = await createUser(app, orm, 'other@example.org')
	await addMember(orm, project, other.user, 'MEMBER')
	await byKey('POST', '/contacts', { email: 'one@example.org' })
	await byKey('POST', '/contacts', { email: 'two@example.org' })
	await bySession('POST', '/segments', { name: 'S', type: 'STATIC' })
	await app.inject({
		method: 'POST',
		url: '/contacts',
		headers: { ...other.headers, 'x-project-id': project.id },
		payload: { email: 'three@example.org' },
	})
	const found = async (query: string) => {
		const { data, total, hasMore } = await read(`?${query}`)
		t.false(hasMore)
		t.is(total, data.length, query)
		return data.map(({ actor, action }) => `${actor.type} ${action}`)
	}
	t.deepEqual(await found(`userId=${user.id}`), ['user POST /segments'])
	t.deepEqual(await found('by=user'), ['user POST /contacts', 'user POST /segments'])
	t.deepEqual(await found('by=key'), ['key POST /contacts', 'key POST /contacts'])
	const [newest, , , oldest] = (await read()).data
	t.is((await found(`from=${newest!.createdAt}`)).at(0), 'user POST /contacts')
	t.true((await found(`to=${oldest!.createdAt}`)).every((one) => one === 'key POST /contacts'))
	const later = new Date(Date.now() + 60_000).toISOString()
	t.deepEqual(await found(`by=key&from=${later}`), [])
	const page = await read('?by=user&limit=1')
	t.deepEqual([page.data.length, page.hasMore, page.total], [1, true, 2])
	t.like((await read(`?by=user&cursor=${page.cursor}`)).data, [{ action: 'POST /segments' }])
})

test('a change is found by its own time, whatever its id says', async (t) => {
	const { read, byKey, pool } = await setupAudit(t)
	for (const name of ['one', 'two']) await byKey('POST', '/segments', { name, type: 'STATIC' })
	await pool.query(`update audit_entries set created_at = uuid_extract_timestamp(id)
		+ case when id = (select min(id::text)::uuid from audit_entries) then interval '-5 s' else interval '5 s' end`)
	for (const { id, createdAt } of (await read()).data) {
		const beside = (ms: number) => new Date(Date.parse(createdAt) + ms).toISOString()
		const ids = async (query: string) => (await read(query)).data.map((one) => one.id)
		t.deepEqual(await ids(`?from=${createdAt}&to=${createdAt}`), [id])
		t.false((await ids(`?from=${beside(1)}`)).includes(id))
		t.false((await ids(`?to=${beside(-1)}`)).includes(id))
	}
})

test('a change is not undone, nor its caller left waiting, because the audit cannot be written', async (t) => {
	const { byKey, pool } = await setupAudit(t)
	const locking = await pool.connect()
	await locking.query('begin; lock table audit_entries in access exclusive mode')
	const answer = await byKey('POST', '/contacts', { email: 'c@example.org' })
	t.is(answer.statusCode, 201)
	await locking.query('rollback')
	locking.release()
	await pool.query('alter table audit_entries rename to audit_entries_away')
	t.is((await byKey('POST', '/contacts', { email: 'd@example.org' })).statusCode, 201)
})

test('changes are counted only as far as their number says anything', async (t) => {
	const { pool, project, read } = await setupAudit(t)
	await pool.query(
		`insert into audit_entries (project_id, actor, action, target, status, ip, request_id)
		select $1, 'sk_…', 'POST /contacts', '{}', 201, '192.0.2.1', uuidv7() from generate_series(1, 10050)`,
		[project.id],
	)
	const { data, total, hasMore } = await read('?limit=5')
	t.deepEqual([data.length, total, hasMore], [5, 10_000, true])
	t.is((await read('?by=user')).total, 0)
})
