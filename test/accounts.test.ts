import test, { type ExecutionContext } from 'ava'
import { createJwt } from '../api/jwt.ts'
import { createProject, setup, startApp, testSettings } from './helpers/app.ts'
import { addMember, cookieOf, createUser, origin, password } from './helpers/people.ts'

const email = 'anna@example.org'

async function setupAccounts(t: ExecutionContext, options: Parameters<typeof setup>[1] = {}) {
	const context = await setup(t, options)
	const { app } = context
	const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
		app.inject({ method: 'POST', url, payload, headers })
	return {
		...context,
		post,
		signup: (payload: object = { email, password }) => post('/auth/signup', payload),
		login: (payload: object = { email, password }, headers = {}) =>
			post('/auth/login', payload, headers),
		me: (cookie: string) => app.inject({ url: '/users/@me', headers: { cookie } }),
	}
}

test('who signs up is logged in, and logs in again by any spelling of the address', async (t) => {
	const { signup, login, me } = await setupAccounts(t)
	const signedUp = await signup({ email: ' Anna@Example.ORG ', password })
	t.is(signedUp.statusCode, 201)
	const account = signedUp.json<{ id: string; email: string }>()
	t.is(account.email, email)
	const profile = { ...account, emailVerified: false }
	t.deepEqual((await me(cookieOf(signedUp))).json(), profile)
	const loggedIn = await login({ email: 'ANNA@example.org', password })
	t.is(loggedIn.statusCode, 200)
	t.deepEqual(loggedIn.json(), account)
	t.deepEqual((await me(cookieOf(loggedIn))).json(), profile)
})

test('the cookie is for our server alone, for a week, and over https for https alone', async (t) => {
	const { signup, orm } = await setupAccounts(t)
	const cookie = (await signup()).headers['set-cookie'] as string
	t.regex(cookie, /^session=[\w.-]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/)
	const { app } = await startApp(t, orm, { settings: { publicUrl: 'https://mail.example.com' } })
	const payload = { email, password }
	const secure = await app.inject({ method: 'POST', url: '/auth/login', payload })
	t.regex(secure.headers['set-cookie'] as string, /; Secure$/)
})

test('a password is stored as argon2id with a salt of its own', async (t) => {
	const { signup, pool } = await setupAccounts(t)
	await signup()
	await signup({ email: 'ben@example.org', password })
	const { rows } = await pool.query<{ password_hash: string }>('select password_hash from users')
	t.is(new Set(rows.map((row) => row.password_hash)).size, 2)
	for (const { password_hash } of rows)
		t.regex(password_hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
})

test('a taken address is a 409, also of two who sign up at once', async (t) => {
	const { signup } = await setupAccounts(t)
	const answers = await Promise.all([signup(), signup(), signup()])
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
		[201, 409, 409],
	)
	t.is((await signup()).json().error.code, 'CONFLICT')
})

test('sign-ups can be disabled', async (t) => {
	const { features } = testSettings()
	const settings = { features: { ...features, signupsDisabled: true } }
	const { signup, pool } = await setupAccounts(t, { settings })
	const answer = await signup()
	t.is(answer.statusCode, 403)
	t.is(answer.json().error.code, 'FORBIDDEN')
	t.is((await pool.query('select from users')).rowCount, 0)
})

test('what is no address or no password is named', async (t) => {
	const { signup, login } = await setupAccounts(t)
	const faults = async (payload: object, act = signup) => {
		const { statusCode, json } = await act(payload)
		t.is(statusCode, 422)
		return json<{ error: { errors: { field: string; code: string }[] } }>().error.errors.map(
			({ field, code }) => `${field} ${code}`,
		)
	}
	t.deepEqual(await faults({}), ['email required', 'password required'])
	t.deepEqual(await faults({ email: 'anna', password: 'short' }), [
		'email invalid_string',
		'password too_small',
	])
	t.deepEqual(await faults({ email, password: 'x'.repeat(201) }), ['password too_big'])
	t.deepEqual(await faults({ email, password: 12345678 }), ['password invalid_type'])
	t.deepEqual(await faults({ email: [email], password: '' }, login), [
		'email invalid_type',
		'password too_small',
	])
})

test('a wrong password and an unknown address have the same answer, and take as long', async (t) => {
	const { signup, login } = await setupAccounts(t)
	await signup()
	const timed = async (payload: object) => {
		const began = performance.now()
		const answer = await login(payload)
		const { error } = answer.json<{ error: Record<string, unknown> }>()
		delete error['requestId']
		return { ms: performance.now() - began, status: answer.statusCode, error }
	}
	const times = { wrong: Infinity, unknown: Infinity }
	for (let i = 0; i < 5; i++) {
		const wrong = await timed({ email, password: 'incorrect horse' })
		const unknown = await timed({ email: 'nobody@example.org', password })
		t.is(wrong.status, 401)
		t.is(wrong.error['code'], 'INVALID_CREDENTIALS')
		t.deepEqual(unknown.error, wrong.error)
		times.wrong = Math.min(times.wrong, wrong.ms)
		times.unknown = Math.min(times.unknown, unknown.ms)
	}
	// A password takes some 20 ms to compare: whoever did not would show.
	t.true(times.unknown > times.wrong / 2, JSON.stringify(times))
	t.true(times.wrong > times.unknown / 2, JSON.stringify(times))
})

test('logging out ends the session on the server, not only in the browser', async (t) => {
	const { app, signup, me } = await setupAccounts(t)
	const cookie = cookieOf(await signup())
	const other = cookieOf(
		await app.inject({ method: 'POST', url: '/auth/login', payload: { email, password } }),
	)
	const answer = await app.inject({ url: '/auth/logout', headers: { cookie } })
	t.is(answer.statusCode, 204)
	t.regex(answer.headers['set-cookie'] as string, /^session=; Path=\/; Max-Age=0;/)
	t.is((await me(cookie)).statusCode, 401)
	t.is((await me(other)).statusCode, 200)
	t.is((await app.inject({ url: '/auth/logout' })).statusCode, 204)
})

test('a session that is expired, forged or for another purpose is none', async (t) => {
	const { signup, me, pool } = await setupAccounts(t)
	const cookie = cookieOf(await signup())
	const { rows } = await pool.query<{ id: string }>('select id from sessions')
	const claims = { sid: rows[0]!.id }
	const { sessionSecret } = testSettings()
	const ours = createJwt(sessionSecret, 'sessions')
	t.is((await me(`session=${ours.sign(claims, 60)}`)).statusCode, 200)
	const unsigned = (header: object) =>
		`${Buffer.from(JSON.stringify(header)).toString('base64url')}.${cookie.split('.')[1]}.`
	for (const forged of [
		ours.sign(claims, -1),
		createJwt('another secret', 'sessions').sign(claims, 60),
		createJwt(sessionSecret, 'something else').sign(claims, 60),
		ours.sign({ sid: crypto.randomUUID() }, 60),
		unsigned({ alg: 'none', typ: 'JWT' }),
		unsigned({ alg: 'HS256', typ: 'JWT' }),
		cookie.slice('session='.length, -4),
		'',
		'..',
	]) {
		const answer = await me(`session=${forged}`)
		t.is(answer.statusCode, 401, forged)
		t.is(answer.json().error.code, 'UNAUTHORIZED')
	}
	await pool.query(`update sessions set expires_at = now() - interval '1 second'`)
	t.is((await me(cookie)).statusCode, 401)
})

test('ten tries for an address, over all processes; then even the right password waits', async (t) => {
	const { orm, pool, signup } = await setupAccounts(t)
	await signup()
	const apps = await Promise.all([startApp(t, orm), startApp(t, orm)])
	let n = 0
	const login = (password: string) =>
		apps[n++ % 2]!.app.inject({
			method: 'POST',
			url: '/auth/login',
			payload: { email, password },
			headers: { 'x-forwarded-for': `198.51.100.${n}` },
		})
	const wrong = await Promise.all(Array.from({ length: 14 }, () => login('incorrect horse')))
	const statuses = wrong.map(({ statusCode }) => statusCode)
	t.is(statuses.filter((status) => status === 401).length, 10)
	t.is(statuses.filter((status) => status === 429).length, 4)
	const refused = await login(password)
	t.is(refused.statusCode, 429)
	const { error } = refused.json<{ error: { code: string; details: { retryAfter: number } } }>()
	t.is(error.code, 'RATE_LIMIT_EXCEEDED')
	t.true(error.details.retryAfter > 890 && error.details.retryAfter <= 900)
	t.is(refused.headers['retry-after'], `${error.details.retryAfter}`)
	// A quarter of an hour later.
	await pool.query(
		`update throttles set tries = array(select t - interval '15 minutes' from unnest(tries) t)`,
	)
	t.is((await login(password)).statusCode, 200)
})

test('the quarter of an hour slides: old tries fall out one by one', async (t) => {
	const { pool, login } = await setupAccounts(t)
	const status = async () => (await login()).statusCode
	for (let i = 0; i < 10; i++) t.is(await status(), 401)
	t.is(await status(), 429)
	await pool.query(`update throttles set tries = array(
		select case when n <= 2 then t - interval '15 minutes' else t end
		from unnest(tries) with ordinality as u(t, n))`)
	t.deepEqual([await status(), await status(), await status()], [401, 401, 429])
})

test('who logs in has no tries against them', async (t) => {
	const { signup, login } = await setupAccounts(t)
	await signup()
	for (let i = 0; i < 60; i++) t.is((await login()).statusCode, 200)
	for (let i = 0; i < 10; i++)
		t.is((await login({ email, password: 'incorrect horse' })).statusCode, 401)
})

test('fifty tries from one network, whatever the addresses', async (t) => {
	const { login } = await setupAccounts(t)
	const from = async (ip: string, n: number) =>
		(await login({ email: `${n}@example.org`, password }, { 'x-forwarded-for': ip })).statusCode
	const statuses = await Promise.all(
		Array.from({ length: 52 }, (_, n) => from(`2001:db8:1:2::${n}`, n)),
	)
	t.is(statuses.filter((status) => status === 429).length, 2)
	t.is(await from('2001:db8:1:2:ffff:ffff:ffff:ffff', 99), 429)
	t.is(await from('2001:db8:1:3::1', 99), 401)
	t.is(await from('203.0.113.9', 99), 401)
})

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
	// A key speaks for itself, whoever is logged in beside it.
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
