import test, { type ExecutionContext } from 'ava'
import { createProject, setup, startApp } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { addMember, createUser } from './helpers/people.ts'

interface ProjectBody {
	id: string
	name: string
	public: string
	secret: string
	role: string
	disabled: boolean
	language: string
	tracking: string
	updatedAt: string
}

async function setupOwner(t: ExecutionContext, options: Parameters<typeof setup>[1] = {}) {
	const context = await setup(t, options)
	const { app, orm } = context
	const owner = await createUser(app, orm, 'owner@example.org')
	type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
	const call = (method: Method, url: string, payload?: object, headers = owner.headers) =>
		app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
	const create = async (name = 'Shop') =>
		(await call('POST', '/users/@me/projects', { name })).json<ProjectBody>()
	const listed = async (headers = owner.headers) =>
		(await call('GET', '/users/@me/projects', undefined, headers)).json<ProjectBody[]>()
	const statusOf = async (key: string) =>
		(await app.inject({ url: '/contacts', headers: { authorization: `Bearer ${key}` } })).statusCode
	return { ...context, owner, call, create, listed, statusOf }
}

test('a new project belongs to its creator, who sees its secret key only once', async (t) => {
	const { call, listed, statusOf } = await setupOwner(t)
	const answer = await call('POST', '/users/@me/projects', { name: 'Shop' })
	t.is(answer.statusCode, 201)
	const project = answer.json<ProjectBody>()
	t.like(project, {
		name: 'Shop',
		role: 'OWNER',
		disabled: false,
		disabledReason: null,
		tracking: 'ENABLED',
		language: 'en',
		sendRatePerSecond: null,
	})
	t.regex(project.public, /^pk_[0-9a-f]{64}$/)
	t.regex(project.secret, /^sk_[0-9a-f]{64}$/)
	t.is(await statusOf(project.secret), 200)
	t.deepEqual(await listed(), [{ ...project, secret: `sk_…${project.secret.slice(-4)}` }])
})

test('users list the projects they are a member of, with their role', async (t) => {
	const { app, orm, project, create, listed } = await setupOwner(t)
	await createProject(orm)
	const own = await create()
	const { user, headers } = await createUser(app, orm, 'ben@example.org')
	t.deepEqual(await listed(headers), [])
	await addMember(orm, project, user, 'ADMIN')
	t.deepEqual(
		(await listed(headers)).map(({ id, role }) => [id, role]),
		[[project.id, 'ADMIN']],
	)
	t.deepEqual(
		(await listed()).map(({ id, role }) => [id, role]),
		[[own.id, 'OWNER']],
	)
})

test('name, tracking, language and postal address change only if given', async (t) => {
	const { call, create } = await setupOwner(t)
	const { id } = await create()
	const patch = async (payload: object) =>
		(await call('PATCH', `/users/@me/projects/${id}`, payload)).json<ProjectBody>()
	t.like(await patch({ name: 'Store' }), { name: 'Store', language: 'en', tracking: 'ENABLED' })
	t.like(await patch({ language: 'de-AT' }), { name: 'Store', language: 'de-AT' })
	t.like(await patch({ tracking: 'MARKETING_ONLY' }), { tracking: 'MARKETING_ONLY', id })
	const address = 'Shop Ltd\r\n\r\n  1 High Street \nLondon'
	const lines = { postalAddress: 'Shop Ltd\n1 High Street\nLondon' }
	t.like(await patch({ postalAddress: address }), { ...lines, name: 'Store' })
	t.like(await patch({ name: 'Store' }), lines)
	for (const none of [null, '', ' \n']) {
		t.like(await patch(lines), lines)
		t.like(await patch({ postalAddress: none }), { postalAddress: null })
	}
	for (const wrong of [
		{ postalAddress: 'x'.repeat(501) },
		{ name: '' },
		{ name: '  ' },
		{ name: 'x'.repeat(101) },
		{ name: 'a\nb' },
		{ name: null },
		{ language: 'english' },
		{ language: 'de_AT' },
		{ tracking: 'SOMETIMES' },
	]) {
		const answer = await call('PATCH', `/users/@me/projects/${id}`, wrong)
		t.is(answer.statusCode, 422, JSON.stringify(wrong))
		t.is(answer.json().error.errors[0].field, Object.keys(wrong)[0])
	}
	t.is((await call('POST', '/users/@me/projects', {})).statusCode, 422)
})

test('both keys are replaced at once, in every process', async (t) => {
	const { orm, call, create } = await setupOwner(t)
	const before = await create()
	const apps = [await startApp(t, orm), await startApp(t, orm)]
	const statuses = ({ public: publicKey, secret }: ProjectBody) =>
		Promise.all(
			apps.flatMap(({ app }) => [
				app
					.inject({ url: '/contacts', headers: { authorization: `Bearer ${secret}` } })
					.then(({ statusCode }) => statusCode),
				app
					.inject({
						method: 'POST',
						url: '/v1/track',
						headers: { authorization: `Bearer ${publicKey}` },
						payload: { email: 'c@example.org', event: 'came' },
					})
					.then(({ statusCode }) => statusCode),
			]),
		)
	t.deepEqual(await statuses(before), [200, 200, 200, 200])
	const answer = await call('POST', `/users/@me/projects/${before.id}/regenerate-keys`)
	t.is(answer.statusCode, 200)
	const after = answer.json<ProjectBody>()
	t.deepEqual(await statuses(before), [401, 401, 401, 401])
	t.deepEqual(await statuses(after), [200, 200, 200, 200])
	t.is(after.id, before.id)
})

test('another project, or none, is a 404; a role too low is a 403', async (t) => {
	const { app, orm, call, create, project: foreign } = await setupOwner(t)
	const { id } = await create()
	for (const other of [foreign.id, crypto.randomUUID(), 'nonsense']) {
		const answer = await call('PATCH', `/users/@me/projects/${other}`, { name: 'Mine' })
		t.is(answer.statusCode, 404)
		t.is(answer.json().error.code, 'RESOURCE_NOT_FOUND')
		t.deepEqual(answer.json().error.details, { resource: 'project', id: other })
	}
	const { user, headers } = await createUser(app, orm, 'ben@example.org')
	await addMember(orm, { id } as typeof foreign, user, 'ADMIN')
	const deletion = await call('DELETE', `/users/@me/projects/${id}`, undefined, headers)
	t.is(deletion.statusCode, 403)
	t.deepEqual(deletion.json().error.details, { role: 'ADMIN', needed: 'OWNER' })
})

test('with a real provider a project waits for its owner to be verified, and a guest too', async (t) => {
	const { app, orm, listed } = await setupOwner(t, { settings: { emailProvider: 'smtp' } })
	const { user, headers } = await createUser(app, orm, 'new@example.org', { emailVerifiedAt: null })
	const created = await app.inject({
		method: 'POST',
		url: '/users/@me/projects',
		headers,
		payload: { name: 'Shop' },
	})
	t.is(created.statusCode, 201)
	const { id, secret } = created.json<ProjectBody>()
	const authorization = `Bearer ${secret}`
	const send = () =>
		app.inject({ method: 'POST', url: '/v1/send', headers: { authorization }, payload: {} })
	const refused = await send()
	t.is(refused.statusCode, 403)
	t.is(refused.json().error.code, 'EMAIL_VERIFICATION_REQUIRED')
	t.is((await app.inject({ url: '/contacts', headers: { authorization } })).statusCode, 200)

	const { project } = await createProject(orm)
	await addMember(orm, project, user, 'ADMIN')
	const asGuest = await app.inject({
		url: '/contacts',
		headers: { ...headers, 'x-project-id': project.id },
	})
	t.is(asGuest.statusCode, 403)
	t.is(asGuest.json().error.code, 'EMAIL_VERIFICATION_REQUIRED')
	t.deepEqual(
		(await listed(headers)).map((p) => p.id),
		[id],
	)
})

test('a disabled project is seen, and not changed', async (t) => {
	const { orm, call, listed, owner } = await setupOwner(t)
	const { project } = await createProject(orm, { disabledReason: 'PAYMENT_FAILED' })
	await addMember(orm, project, owner.user, 'OWNER')
	t.like((await listed())[0], { disabled: true, disabledReason: 'PAYMENT_FAILED' })
	for (const [method, path] of [
		['PATCH', ''],
		['POST', '/regenerate-keys'],
		['POST', '/reset'],
		['DELETE', ''],
	] as const) {
		const answer = await call(method, `/users/@me/projects/${project.id}${path}`)
		t.is(answer.statusCode, 403)
		t.is(answer.json().error.code, 'PROJECT_DISABLED')
	}
})

test('a user can create at most a hundred projects an hour', async (t) => {
	const { call, pool } = await setupOwner(t)
	const make = async () => (await call('POST', '/users/@me/projects', { name: 'Shop' })).statusCode
	t.is(await make(), 201)
	await pool.query(`update throttles set tries = array_fill(tries[1], array[98])`)
	t.deepEqual([await make(), await make(), await make()], [201, 201, 429])
})

test('a project can be reset at most ten times an hour', async (t) => {
	const { call, create, pool } = await setupOwner(t)
	const { id } = await create()
	const reset = async () => (await call('POST', `/users/@me/projects/${id}/reset`)).statusCode
	t.is(await reset(), 200)
	await pool.query(`update throttles set tries = array_fill(tries[1], array[9])`)
	t.deepEqual([await reset(), await reset()], [200, 429])
})

for (const [method, path, status] of [
	['PATCH', '', 200],
	['POST', '/regenerate-keys', 200],
	['DELETE', '', 204],
] as const)
	test(`${method} ${path} beside a reset meets the project that lives on`, async (t) => {
		const { call, create, pool, listed, statusOf } = await setupOwner(t)
		const { id, secret } = await create()
		const url = `/users/@me/projects/${id}`
		const holder = await pool.connect()
		await holder.query('begin')
		await holder.query('select from projects where public_id = $1 for update', [id])
		const reset = call('POST', `${url}/reset`)
		await lockWaits(t, pool, 1)
		const change = call(method, `${url}${path}`, method === 'PATCH' ? { name: 'Store' } : undefined)
		await lockWaits(t, pool, 2)
		await holder.query('commit')
		holder.release()
		t.is((await reset).statusCode, 200)
		t.is((await change).statusCode, status)
		const [project] = await listed()
		if (method === 'PATCH') t.is(project!.name, 'Store')
		else t.is(await statusOf(secret), 401)
		t.is(project === undefined, method === 'DELETE')
	})
