import test from 'ava'
import { createJwt } from '../api/accounts/jwt.ts'
import { email, setupAccounts } from './helpers/accounts.ts'
import { startApp, testSettings } from './helpers/app.ts'
import { cookieOf, password } from './helpers/people.ts'

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
		// Passwords are compared in other threads; what the machine does for others is not of interest.
		const before = process.cpuUsage()
		const answer = await login(payload)
		const { user, system } = process.cpuUsage(before)
		const { error } = answer.json<{ error: Record<string, unknown> }>()
		delete error['requestId']
		return { ms: (user + system) / 1000, status: answer.statusCode, error }
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
