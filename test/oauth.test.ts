import test, { type ExecutionContext } from 'ava'
import { setup, testSettings } from './helpers/app.ts'
import { startOAuth } from './helpers/oauth-fake.ts'
import { lockWaits } from './helpers/locks.ts'
import { createUser, password } from './helpers/people.ts'

const email = 'anna@example.org'
const at = (...addresses: string[]) =>
	addresses.map((address, index) => ({ email: address, primary: index === 0, verified: true }))
const anna = { id: 4711, emails: at(email) }

/** Resets the password as the reader of the account's mail does. */
async function resetPassword({
	app,
	pool,
}: Pick<Awaited<ReturnType<typeof setup>>, 'app' | 'pool'>) {
	const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
	await post('/auth/request-password-reset', { email })
	const { rows } = await pool.query<{ body: string }>('select body from emails')
	const [, token] = /token=([\w-]+)/.exec(rows[0]!.body)!
	return post('/auth/reset-password', { token, newPassword: 'another horse battery' })
}

async function setupOAuth(t: ExecutionContext, changes: { signupsDisabled?: boolean } = {}) {
	const fake = await startOAuth(t)
	const { client } = fake
	const settings = {
		oauth: { github: client, google: client },
		features: { ...testSettings().features, ...changes },
		emailProvider: 'smtp' as const,
	}
	const context = await setup(t, { settings })
	const { app, pool } = context

	async function setOut(provider = 'github') {
		const answer = await app.inject(`/auth/${provider}`)
		const { value } = answer.cookies.find(({ name }) => name === 'oauth')!
		return { answer, location: answer.headers.location!, cookie: `oauth=${value}` }
	}
	const comeBack = (provider: string, query: Record<string, string>, cookie = '') =>
		app.inject({
			url: `/auth/${provider}/callback?${new URLSearchParams(query).toString()}`,
			headers: cookie ? { cookie } : {},
		})
	type Back = Awaited<ReturnType<typeof comeBack>>
	const sessionOf = (back: Back) => back.cookies.find(({ name }) => name === 'session')?.value
	const who = async (back: Back) =>
		(
			await app.inject({
				url: '/users/@me',
				headers: { cookie: `session=${sessionOf(back)}` },
			})
		).json<{ id: string; email: string; emailVerified: boolean }>()
	async function logIn(provider: string, person: Parameters<typeof fake.agree>[1]) {
		const { location, cookie } = await setOut(provider)
		return comeBack(provider, fake.agree(location, person), cookie)
	}
	const countUsers = async () => (await pool.query('select from users')).rowCount
	return { ...context, fake, setOut, comeBack, sessionOf, who, logIn, countUsers }
}

test('each log-in starts with its own state and challenge', async (t) => {
	const { setOut, fake } = await setupOAuth(t)
	const { answer, location } = await setOut()
	t.is(answer.statusCode, 303)
	const url = new URL(location)
	t.is(`${url.origin}${url.pathname}`, `${fake.client.base}/login/oauth/authorize`)
	const query = Object.fromEntries(url.searchParams)
	t.like(query, {
		response_type: 'code',
		client_id: 'our-client',
		redirect_uri: 'http://localhost:3000/auth/github/callback',
		code_challenge_method: 'S256',
	})
	t.regex(query['state']!, /^[\w-]{43}$/)
	t.regex(query['code_challenge']!, /^[\w-]{43}$/)
	t.regex(
		answer.headers['set-cookie'] as string,
		/^oauth=[^;]+; Path=\/auth; Max-Age=600; HttpOnly; SameSite=Lax$/,
	)
	const second = new URL((await setOut()).location).searchParams
	t.not(second.get('state'), query['state'])
	t.not(second.get('code_challenge'), query['code_challenge'])
	t.false(location.includes('our-secret'))
})

for (const provider of ['github', 'google'])
	test(`a first log-in from ${provider} creates an account, and later ones find it`, async (t) => {
		const { logIn, who, countUsers } = await setupOAuth(t)
		const first = await logIn(provider, anna)
		t.is(first.statusCode, 200)
		t.regex(first.body, /<h1>You are logged in/)
		t.is(first.cookies.find(({ name }) => name === 'oauth')?.maxAge, 0)
		const user = await who(first)
		t.like(user, { email, emailVerified: true })
		// The account's address there has changed, and the old one may belong to another account.
		const again = await logIn(provider, { id: anna.id, emails: at('new@example.org', email) })
		t.deepEqual(await who(again), user)
		t.is(await countUsers(), 1)
	})

test('accounts at both providers with one address are one account here', async (t) => {
	const { logIn, who, countUsers } = await setupOAuth(t)
	const github = await who(await logIn('github', anna))
	const google = await who(await logIn('google', { id: 1, emails: at('ANNA@example.org') }))
	t.deepEqual(google, github)
	t.is(await countUsers(), 1)
})

test('an account with a password and a verified address keeps both', async (t) => {
	const { app, orm, logIn, who } = await setupOAuth(t)
	const { user } = await createUser(app, orm, email)
	t.is((await who(await logIn('google', anna))).id, user.id)
	const login = await app.inject({
		method: 'POST',
		url: '/auth/login',
		payload: { email, password },
	})
	t.is(login.statusCode, 200)
})

test('a new password shuts out the accounts at providers that were linked before', async (t) => {
	const { app, orm, pool, logIn, who } = await setupOAuth(t)
	const { user } = await createUser(app, orm, email)
	t.is((await who(await logIn('github', anna))).id, user.id)
	const reset = await resetPassword({ app, pool })
	t.is(reset.statusCode, 200, reset.body)
	const intruder = await who(await logIn('github', { ...anna, emails: at('other@example.org') }))
	t.not(intruder.id, user.id)
	t.is(
		(await who(await logIn('google', anna))).id,
		user.id,
		'the owner of the address is linked again',
	)
})

test('a new password also ends the session of a log-in at a provider that is under way', async (t) => {
	const { app, orm, pool, logIn, sessionOf } = await setupOAuth(t)
	await createUser(app, orm, email)
	await logIn('github', anna)
	await pool.query(`create function wait_for_test() returns trigger language plpgsql as
		'begin perform pg_advisory_xact_lock(1); return new; end';
		create trigger wait before insert on sessions for each row execute function wait_for_test()`)
	const holder = await pool.connect()
	await holder.query('select pg_advisory_lock(1)')
	const loggingIn = logIn('github', anna)
	await lockWaits(t, pool, 1)
	const reset = resetPassword({ app, pool })
	await Promise.race([reset, lockWaits(t, pool, 2)])
	await holder.query('select pg_advisory_unlock(1)')
	holder.release()
	t.is((await reset).statusCode, 200)
	const cookie = `session=${sessionOf(await loggingIn)}`
	t.is((await app.inject({ url: '/users/@me', headers: { cookie } })).statusCode, 401)
})

test('an unverified account with the address loses its access', async (t) => {
	const { app, orm, pool, logIn, who, sessionOf } = await setupOAuth(t)
	const squatter = await createUser(app, orm, email, { emailVerifiedAt: null })
	const made = await app.inject({
		method: 'POST',
		url: '/users/@me/projects',
		headers: squatter.headers,
		payload: { name: 'Trap' },
	})
	t.is(made.statusCode, 201)
	const back = await logIn('github', anna)
	t.like(await who(back), { id: squatter.user.id, emailVerified: true })
	const { headers } = squatter
	t.regex(back.body, /keys of your projects were replaced/)
	const { id, secret } = made.json<{ id: string; secret: string }>()
	const projects = { cookie: `session=${sessionOf(back)}` }
	const listed = await app.inject({ url: '/users/@me/projects', headers: projects })
	t.like(listed.json(), [{ id, name: 'Trap', role: 'OWNER' }])
	const byKey = { authorization: `Bearer ${secret}` }
	t.is((await app.inject({ url: '/contacts', headers: byKey })).statusCode, 401)
	const mails = await pool.query('select subject from emails where "to" = $1', [email])
	t.like(mails.rows, [{ subject: 'Your account is secured' }])
	t.notRegex((await logIn('github', anna)).body, /keys of your projects/)
	t.is((await app.inject({ url: '/users/@me', headers })).statusCode, 401)
	const login = await app.inject({
		method: 'POST',
		url: '/auth/login',
		payload: { email, password },
	})
	t.is(login.statusCode, 401)
})

test('an address that is not verified there opens nothing here', async (t) => {
	const { app, orm, logIn, sessionOf, countUsers } = await setupOAuth(t)
	await createUser(app, orm, email)
	const unverified = { id: 1, emails: [{ email, primary: true, verified: false }] }
	const secondary = {
		id: 2,
		emails: [...unverified.emails, { email: 'b@example.org', primary: false, verified: true }],
	}
	for (const person of [unverified, secondary, { id: 3, emails: [] }])
		for (const provider of ['github', 'google']) {
			const back = await logIn(provider, person)
			t.is(back.statusCode, 403)
			t.is(sessionOf(back), undefined)
			t.regex(back.body, /<h1>You are not logged in/)
		}
	t.is(await countUsers(), 1)
})

test('only the browser that started a log-in can finish it, once, at the same provider', async (t) => {
	const { setOut, comeBack, fake, sessionOf } = await setupOAuth(t)
	const { location, cookie } = await setOut()
	const other = await setOut()
	const { code, state } = fake.agree(location, anna)
	for (const [query, brought] of [
		[{ code, state }, ''],
		[{ code, state }, other.cookie],
		[{ code, state }, `${cookie}x`],
		[{ code }, cookie],
		[{ code, state: '' }, cookie],
		[{ code, state: new URL(other.location).searchParams.get('state')! }, cookie],
		[{ state }, cookie],
		[{ state, error: 'access_denied' }, cookie],
	] as const) {
		const back = await comeBack('github', query, brought)
		t.is(back.statusCode, 400)
		t.is(sessionOf(back), undefined)
	}
	t.is((await comeBack('google', { code, state }, cookie)).statusCode, 400)
	t.is(fake.seen.exchanges, 0)
	t.is((await comeBack('github', { code, state }, cookie)).statusCode, 200)
	t.is((await comeBack('github', { code, state }, cookie)).statusCode, 403)
})

test('where sign-ups are disabled, only existing accounts can log in', async (t) => {
	const { app, orm, logIn, who, countUsers } = await setupOAuth(t, { signupsDisabled: true })
	t.is((await logIn('github', anna)).statusCode, 403)
	t.is(await countUsers(), 0)
	const { user } = await createUser(app, orm, email)
	t.is((await who(await logIn('github', anna))).id, user.id)
})

test('a provider that is not configured is a 404', async (t) => {
	const { app } = await setup(t)
	t.deepEqual((await app.inject('/auth/oauth-config')).json(), { github: false, google: false })
	for (const url of ['/auth/github', '/auth/google/callback?code=x&state=y', '/auth/other']) {
		const answer = await app.inject(url)
		t.is(answer.statusCode, 404)
		t.is(answer.json().error.code, 'RESOURCE_NOT_FOUND')
	}
	const { app: both } = await setupOAuth(t)
	t.deepEqual((await both.inject('/auth/oauth-config')).json(), { github: true, google: true })
	const { features } = (await both.inject('/config')).json()
	t.deepEqual(features.authProviders, { github: true, google: true })
})

test('an unavailable provider logs nobody in, and the error says so', async (t) => {
	const client = { clientId: 'a', clientSecret: 'b', base: 'http://127.0.0.1:1' }
	const { app } = await setup(t, { settings: { oauth: { github: client, google: undefined } } })
	const out = await app.inject('/auth/github')
	const state = new URL(out.headers.location!).searchParams.get('state')!
	const cookie = `oauth=${out.cookies[0]!.value}`
	const back = await app.inject({
		url: `/auth/github/callback?code=x&state=${state}`,
		headers: { cookie },
	})
	t.is(back.statusCode, 403)
	t.regex(back.body, /<h1>You are not logged in/)
})

test('an account that takes the address during the log-in also loses its access', async (t) => {
	const { pool, logIn, who } = await setupOAuth(t)
	const squatter = await pool.connect()
	await squatter.query(
		`begin; insert into users (email, password_hash) values ('${email}', 'theirs')`,
	)
	const answer = logIn('github', anna)
	await lockWaits(t, pool, 1)
	await squatter.query('commit')
	squatter.release()
	t.like(await who(await answer), { email, emailVerified: true })
	const { rows } = await pool.query('select password_hash from users')
	t.deepEqual(rows, [{ password_hash: null }])
})
