import test from 'ava'
import { email, setupAccounts } from './helpers/accounts.ts'
import { createProject } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { addMember, createUser, origin } from './helpers/people.ts'

test('a session writes only from our own pages', async (t) => {
	const { app, orm, project } = await setupAccounts(t)
	const { user, headers } = await createUser(app, orm, email)
	await addMember(orm, project, user, 'MEMBER')
	const write = async (origin?: string) => {
		const answer = await app.inject({
			method: 'POST',
			url: '/contacts',
			headers: {
				cookie: headers.cookie,
				'x-project-id': project.id,
				...(origin === undefined ? {} : { origin }),
			},
			payload: { email: 'c@example.org' },
		})
		return answer.statusCode
	}
	for (const foreign of [undefined, 'null', '', 'https://evil.example', `${origin}.evil.example`])
		t.is(await write(foreign), 403, foreign)
	t.is(await write(origin), 201)
	const read = {
		cookie: headers.cookie,
		'x-project-id': project.id,
		origin: 'https://evil.example',
	}
	t.is((await app.inject({ url: '/contacts', headers: read })).statusCode, 200)
})

test('routes of a secret key take a session and the project it is about', async (t) => {
	const { app, orm, project, withSecretKey } = await setupAccounts(t)
	const { user, headers } = await createUser(app, orm, email)
	const foreign = await createProject(orm)
	await addMember(orm, project, user, 'MEMBER')
	const list = async (extra: Record<string, string>) => {
		const answer = await app.inject({ url: '/contacts', headers: { ...headers, ...extra } })
		return [answer.statusCode, answer.json<{ error?: { code: string } }>().error?.code]
	}
	t.deepEqual(await list({ 'x-project-id': project.id }), [200, undefined])
	t.deepEqual(await list({}), [400, 'BAD_REQUEST'])
	for (const id of [foreign.project.id, crypto.randomUUID(), 'no-uuid'])
		t.deepEqual(await list({ 'x-project-id': id }), [403, 'PROJECT_ACCESS_DENIED'])
	// With a key, a session in the same request is ignored.
	t.deepEqual(await list({ ...withSecretKey, 'x-project-id': foreign.project.id }), [
		200,
		undefined,
	])
	t.deepEqual(await list({ authorization: 'Bearer sk_wrong', 'x-project-id': project.id }), [
		401,
		'INVALID_API_KEY',
	])
	t.deepEqual(await list({ cookie: 'session=none', 'x-project-id': project.id }), [
		401,
		'INVALID_API_KEY',
	])
	await orm.em.fork().execute('delete from memberships')
	t.deepEqual(await list({ 'x-project-id': project.id }), [403, 'PROJECT_ACCESS_DENIED'])
})

test('a disabled project is read by its members, and not written', async (t) => {
	const { app, orm } = await setupAccounts(t)
	const { project } = await createProject(orm, { disabledReason: 'MANUAL' })
	const { user, headers } = await createUser(app, orm, email)
	await addMember(orm, project, user, 'OWNER')
	const call = async (method: 'GET' | 'POST') =>
		(
			await app.inject({
				method,
				url: '/contacts',
				headers: { ...headers, 'x-project-id': project.id },
				...(method === 'POST' ? { payload: { email } } : {}),
			})
		).statusCode
	t.is(await call('GET'), 200)
	t.is(await call('POST'), 403)
})

test('a log-in under way while the password is replaced opens no session', async (t) => {
	const { pool, signup, login } = await setupAccounts(t)
	await signup()
	await pool.query('delete from sessions')
	const reset = await pool.connect()
	await reset.query(`begin; update users set password_hash = 'another'`)
	const answer = login()
	await lockWaits(t, pool, 1)
	await reset.query('commit')
	reset.release()
	t.is((await answer).statusCode, 401)
	t.is((await pool.query('select from sessions')).rowCount, 0)
})
