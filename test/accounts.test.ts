import test from 'ava'
import { createHmac } from 'node:crypto'
import { email, setupAccounts } from './helpers/accounts.ts'
import { startApp, testSettings } from './helpers/app.ts'
import { cookieOf, password } from './helpers/people.ts'

test('signing up logs in, and any spelling of the address logs in again', async (t) => {
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

test('a taken address is a 409, even for two simultaneous sign-ups', async (t) => {
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

test('a wrong address or password is named', async (t) => {
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

// Serial: the other tests compare passwords, too.
test.serial(
	'a wrong password and an unknown address have the same answer, and take as long',
	async (t) => {
		const { signup, login } = await setupAccounts(t)
		await signup()
		const timed = async (payload: object) => {
			// Passwords are compared on other threads, so this measures the process's CPU time, without the
			// machine's other work.
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
		// Comparing a password takes some 20 ms, so skipping it would show.
		t.true(times.unknown > times.wrong / 2, JSON.stringify(times))
		t.true(times.wrong > times.unknown / 2, JSON.stringify(times))
	},
)

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

test('a session is a JSON Web Token with a signature of ours', async (t) => {
	const { signup, me } = await setupAccounts(t)
	const [header, claims, signature] = cookieOf(await signup())
		.slice('session='.length)
		.split('.') as [string, string, string]
	const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
	t.deepEqual(read(header), { alg: 'HS256', typ: 'JWT' })
	const { exp, jti, ...rest } = read(claims) as { exp: number; jti: string }
	t.deepEqual(rest, {})
	t.true(Math.abs(exp - Date.now() / 1000 - 7 * 24 * 60 * 60) < 60)
	const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
	const forged = [
		jti,
		`${part({ alg: 'none', typ: 'JWT' })}.${claims}.`,
		`${part({ alg: 'none', typ: 'JWT' })}.${claims}.${signature}`,
		`${header}.${part({ exp: exp + 1, jti })}.${signature}`,
		`${header}.${claims}.${createHmac('sha256', '').update(`${header}.${claims}`).digest('base64url')}`,
	]
	for (const token of forged) t.is((await me(`session=${token}`)).statusCode, 401, token)
	t.is((await me(`session=${header}.${claims}.${signature}`)).statusCode, 200)
})

test('a session that has expired, or was made up, is none', async (t) => {
	const { signup, me, pool } = await setupAccounts(t)
	const cookie = cookieOf(await signup())
	t.is((await me(cookie)).statusCode, 200)
	const { rows } = await pool.query<{ id: string; digest: Buffer }>(
		'select id, digest from sessions',
	)
	const { id, digest } = rows[0]!
	const token = cookie.slice('session='.length)
	// The database contains nothing that works as a token.
	for (const forged of [id, digest.toString('base64url'), digest.toString('hex')])
		t.is((await me(`session=${forged}`)).statusCode, 401, forged)
	for (const forged of [token.slice(0, -1), `${token}x`, token.toUpperCase(), '', '..', '%00']) {
		const answer = await me(`session=${forged}`)
		t.is(answer.statusCode, 401, forged)
		t.is(answer.json().error.code, 'UNAUTHORIZED')
	}
	await pool.query(`update sessions set expires_at = now() - interval '1 second'`)
	t.is((await me(cookie)).statusCode, 401)
})
