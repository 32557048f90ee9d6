import test from 'ava'
import { email, newPassword, setupLinks, setupTrap } from './helpers/account-links.ts'
import { createProject } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { addMember, cookieOf, createUser, password } from './helpers/people.ts'

test('signing up sends a mail whose token verifies the address once', async (t) => {
	const { signup, mailTo, post, me, wakes } = await setupLinks(t)
	const woken = wakes.count
	const cookie = cookieOf(await signup())
	t.true(wakes.count > woken)
	const { token, url, from } = await mailTo(email)
	t.is(from, 'noreply@localhost')
	t.is(url, `http://localhost:3000/auth/verify-email?token=${token}`)
	const verify = () => post('/auth/verify-email', { token })
	const answers = await Promise.all([verify(), verify()])
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
		[200, 400],
	)
	t.is(typeof answers.find(({ statusCode }) => statusCode === 200)!.json().message, 'string')
	t.true((await me(cookie)).json().emailVerified)
	const again = await verify()
	t.is(again.statusCode, 400)
	t.is(again.json().error.code, 'BAD_REQUEST')
})

test('an address that is taken gets no second mail, and a sign-up that fails none', async (t) => {
	const { signup, mailTo } = await setupLinks(t)
	await signup()
	t.is((await signup()).statusCode, 409)
	t.is((await mailTo(email)).count, 1)
})

test('mails and pages are in the language of the browser', async (t) => {
	const { app, post, mailTo } = await setupLinks(t)
	const headers = { 'accept-language': 'xx, nl-BE;q=0.5, de;q=0.9' }
	await post('/auth/signup', { email, password }, headers)
	t.is((await mailTo(email)).language, 'de')
	const page = await app.inject({ url: '/auth/reset-password?token=x', headers })
	t.regex(page.body, /lang="de".*Neues Passwort/s)
})

test('a token is valid for an hour and one purpose, and cannot be guessed', async (t) => {
	const { signup, mailTo, post, pool } = await setupLinks(t)
	await signup()
	const { token } = await mailTo(email)
	const reset = await post('/auth/reset-password', { token, newPassword })
	t.is(reset.statusCode, 400)
	for (const wrong of ['', 'x', token.slice(1), `${token}x`, token.toUpperCase()])
		t.is((await post('/auth/verify-email', { token: wrong })).statusCode, wrong ? 400 : 422)
	const { rows } = await pool.query<{ hour: boolean }>(
		`select expires_at between now() + '59 minutes' and now() + '1 hour' as hour from account_tokens`,
	)
	t.deepEqual(rows, [{ hour: true }])
	await pool.query('update account_tokens set expires_at = now()')
	t.is((await post('/auth/verify-email', { token })).statusCode, 400)
})

test('a new password ends all sessions, and the links that could set yet another', async (t) => {
	const { signup, mailTo, post, login, me } = await setupLinks(t)
	const cookies = [cookieOf(await signup())]
	cookies.push(cookieOf(await post('/auth/login', { email, password })))
	const tokens: string[] = []
	for (let i = 0; i < 2; i++) {
		t.is((await post('/auth/request-password-reset', { email })).statusCode, 200)
		tokens.push((await mailTo(email)).token)
	}
	t.is(
		(await post('/auth/reset-password', { token: tokens[0], newPassword: 'short' })).statusCode,
		422,
	)
	t.is(await login(password), 200)
	t.is((await post('/auth/reset-password', { token: tokens[0], newPassword })).statusCode, 200)
	for (const cookie of cookies) t.is((await me(cookie)).statusCode, 401)
	t.is(await login(password), 401)
	t.is(await login(newPassword), 200)
	t.is((await post('/auth/reset-password', { token: tokens[1], newPassword })).statusCode, 400)
	// Reading the mail proves the address.
	const cookie = cookieOf(await post('/auth/login', { email, password: newPassword }))
	t.true((await me(cookie)).json().emailVerified)
})

test('a new password logs in at once, however often the old one was guessed', async (t) => {
	const { signup, mailTo, post, login } = await setupLinks(t)
	await signup()
	for (let i = 0; i < 10; i++) t.is(await login('incorrect horse'), 401)
	t.is(await login(password), 429)
	await post('/auth/request-password-reset', { email })
	const { token } = await mailTo(email)
	t.is((await post('/auth/reset-password', { token: 'x', newPassword })).statusCode, 400)
	t.is(await login(password), 429)
	t.is((await post('/auth/reset-password', { token, newPassword })).statusCode, 200)
	t.is(await login(newPassword), 200)
})

test('a password reset looks the same for known and unknown addresses, three an hour', async (t) => {
	const { signup, post, mailTo } = await setupLinks(t)
	await signup()
	const timed = async (email: string) => {
		const began = performance.now()
		const { statusCode, body } = await post('/auth/request-password-reset', { email })
		return { statusCode, body, ms: performance.now() - began }
	}
	const known = await timed(email)
	const unknown = await timed('nobody@example.org')
	t.is(known.statusCode, 200)
	t.is(unknown.body, known.body)
	t.true(unknown.ms >= 299 && known.ms >= 299)
	t.is((await mailTo('nobody@example.org')).count, 0)
	for (const address of [email, 'nobody@example.org']) {
		const statuses = []
		for (let i = 0; i < 3; i++) statuses.push((await timed(address)).statusCode)
		t.deepEqual(statuses, [200, 200, 429])
	}
	t.is((await mailTo(email)).count, 4)
})

test('the verification mail can be requested again until the address is verified', async (t) => {
	const { app, signup, mailTo, post, orm } = await setupLinks(t)
	const cookie = cookieOf(await signup())
	const headers = { cookie, origin: 'http://localhost:3000' }
	const request = async () => (await post('/auth/request-verification', {}, headers)).statusCode
	t.deepEqual(
		[await request(), await request(), await request(), await request()],
		[200, 200, 200, 429],
	)
	t.is((await mailTo(email)).count, 4)
	t.is((await post('/auth/request-verification', {})).statusCode, 401)
	const verified = await createUser(app, orm, 'ben@example.org')
	t.is((await post('/auth/request-verification', {}, verified.headers)).statusCode, 200)
	t.is((await mailTo('ben@example.org')).count, 0)
})

test('verifying lets the projects of the owner send', async (t) => {
	const { signup, mailTo, post, app } = await setupLinks(t, { settings: { emailProvider: 'smtp' } })
	const headers = { cookie: cookieOf(await signup()), origin: 'http://localhost:3000' }
	const created = await post('/users/@me/projects', { name: 'Shop' }, headers)
	const { secret } = created.json<{ secret: string }>()
	const send = async () =>
		(await post('/v1/send', {}, { authorization: `Bearer ${secret}` })).json().error.code
	t.is(await send(), 'EMAIL_VERIFICATION_REQUIRED')
	t.is((await post('/auth/verify-email', { token: (await mailTo(email)).token })).statusCode, 200)
	t.is(await send(), 'VALIDATION_ERROR')
	t.is(app.hasRoute({ method: 'POST', url: '/v1/send' }), true)
})

test('the pages of the links act by their forms alone, without a script', async (t) => {
	const { app, signup, mailTo, submit, me, login, post } = await setupLinks(t)
	const cookie = cookieOf(await signup())
	const { url, token } = await mailTo(email)
	const { pathname, search } = new URL(url)
	for (let i = 0; i < 2; i++) {
		const page = await app.inject(`${pathname}${search}`)
		t.is(page.statusCode, 200)
		t.regex(page.headers['content-type'] as string, /^text\/html/)
		t.is(page.headers['referrer-policy'], 'no-referrer')
		t.regex(page.headers['content-security-policy'] as string, /default-src 'none'/)
		t.notRegex(page.body, /<script/)
		t.regex(page.body, new RegExp(`action="verify-email" method="post".*value="${token}"`, 's'))
	}
	t.false((await me(cookie)).json().emailVerified)
	const done = await submit(pathname, { token })
	t.is(done.statusCode, 200)
	t.regex(done.body, /<h1>Your address is confirmed/)
	t.true((await me(cookie)).json().emailVerified)
	const again = await submit(pathname, { token })
	t.is(again.statusCode, 400)
	t.regex(again.body, /<h1>This link is no longer valid/)

	await post('/auth/request-password-reset', { email })
	const reset = { token: (await mailTo(email)).token }
	const short = await submit('/auth/reset-password', { ...reset, newPassword: 'short' })
	t.is(short.statusCode, 422)
	t.regex(short.body, new RegExp(`value="${reset.token}".*role="alert"`, 's'))
	const changed = await submit('/auth/reset-password', { ...reset, newPassword })
	t.is(changed.statusCode, 200)
	t.regex(changed.body, /<h1>Your password is changed/)
	t.is(await login(newPassword), 200)
})

test('a form that is refused for another reason does not call its link invalid', async (t) => {
	const { app, post, signup, mailTo } = await setupLinks(t)
	await signup()
	await post('/auth/request-password-reset', { email })
	const { token } = await mailTo(email)
	const body = new URLSearchParams({ token, newPassword, more: 'x'.repeat(2 * 2 ** 20) })
	const answer = await app.inject({
		method: 'POST',
		url: '/auth/reset-password',
		headers: { 'content-type': 'application/x-www-form-urlencoded' },
		payload: body.toString(),
	})
	t.is(answer.statusCode, 413)
	t.notRegex(answer.body, /no longer valid/)
})

const warnings = {
	en: /chose a password.*only if that was you.*Ask for a new password instead/s,
	de: /ein Passwort gewählt.*nur, wenn Sie das waren.*stattdessen ein neues Passwort/s,
	fr: /choisi un mot de passe.*seulement si c’était vous.*plutôt un nouveau mot de passe/s,
	es: /elegido una contraseña.*solo si fue usted.*en su lugar una contraseña nueva/s,
	nl: /een wachtwoord gekozen.*alleen als u dat was.*een nieuw wachtwoord aan/s,
}
test('the page that confirms an address mentions a password chosen before', async (t) => {
	const { app, signup, mailTo } = await setupLinks(t)
	await signup()
	const { pathname, search } = new URL((await mailTo(email)).url)
	for (const [language, warning] of Object.entries(warnings)) {
		const headers = { 'accept-language': language }
		t.regex((await app.inject({ url: `${pathname}${search}`, headers })).body, warning)
	}
})

test('the text in a link is shown as text', async (t) => {
	const { app } = await setupLinks(t)
	const token = `"><script>alert(1)</script>`
	const page = await app.inject(`/auth/reset-password?token=${encodeURIComponent(token)}`)
	t.is(page.statusCode, 200)
	t.notRegex(page.body, /<script/)
})

test('a first proof of an address deletes nothing: the projects are its reader’s alone, with new keys', async (t) => {
	const trap = await setupTrap(t)
	const { app, post, pool, project, asAccomplice, oldSecret, mailTo, wakes } = trap
	t.is(await trap.keyStatus(), 200)
	t.is(await trap.trackStatus(), 200)
	const token = await trap.resetToken()
	t.regex(
		(await mailTo(email)).body!,
		/also replaces their keys, removes their other members and disables their webhook endpoints/,
	)
	const woken = wakes.count
	const answer = await post('/auth/reset-password', { token, newPassword })
	t.is(answer.statusCode, 200)
	t.true(wakes.count > woken)
	t.is(answer.json().securedProjects, 1)
	t.regex(
		answer.json().message,
		/keys of your projects were replaced, .*webhook endpoints disabled, .*workflows/,
	)

	t.is(await trap.keyStatus(), 401)
	t.is(await trap.trackStatus(), 401)
	t.is((await asAccomplice('GET', '/members')).statusCode, 404)
	t.is(await trap.openInvitations(), 0)
	const { body } = await mailTo(email)
	t.regex(body!, /webhook endpoints disabled.*Workflows that send data.*Nothing was deleted/s)
	t.true(body!.includes('Trap') && body!.includes('accomplice@example.org'))
	const cookie = cookieOf(await post('/auth/login', { email, password: newPassword }))
	const read = async (url: string) => (await app.inject({ url, headers: { cookie } })).json()
	t.like(await read('/users/@me/projects'), [{ id: project.id, name: 'Trap', role: 'OWNER' }])
	t.like(await read(`/projects/${project.id}/members`), [{ email, role: 'OWNER' }])
	t.not((await read(`/projects/${project.id}/webhook-secret`)).secret, oldSecret)
	const [noted] = (await read(`/projects/${project.id}/audit`)).data
	t.like(noted, { actor: { name: email }, action: 'POST /auth/reset-password' })
	t.is((await pool.query('select from projects where deleted_at is not null')).rowCount, 0)
})

test('a new password for a verified address changes no project', async (t) => {
	const { post, mailTo, resetToken, keyStatus, asAccomplice, pool } = await setupTrap(t)
	await pool.query('update users set email_verified_at = now()')
	const token = await resetToken()
	t.notRegex((await mailTo(email)).body!, /not verified/)
	const answer = await post('/auth/reset-password', { token, newPassword })
	t.deepEqual(answer.json(), { message: 'Your password is changed' })
	t.is(await keyStatus(), 200)
	t.is((await asAccomplice('GET', '/members')).statusCode, 200)
})

const secured = {
	en: /keys of your projects were replaced.*webhook endpoints were disabled.*workflows/,
	de: /Schlüssel Ihrer Projekte wurden ersetzt.*Webhook-Endpunkte deaktiviert.*Workflows/,
	fr: /clés de vos projets ont été remplacées.*points de terminaison webhook ont été désactivés.*workflows/,
	es: /claves de sus proyectos.*endpoints de webhooks se han desactivado.*workflows/,
	nl: /sleutels van uw projecten zijn vervangen.*webhook-endpoints zijn uitgeschakeld.*workflows/,
}
for (const [language, words] of Object.entries(secured))
	test(`the page after a first proof says what changed, in ${language}`, async (t) => {
		const { app, resetToken } = await setupTrap(t)
		const page = await app.inject({
			method: 'POST',
			url: '/auth/reset-password',
			payload: new URLSearchParams({ token: await resetToken(), newPassword }).toString(),
			headers: {
				'content-type': 'application/x-www-form-urlencoded',
				'accept-language': language,
			},
		})
		t.is(page.statusCode, 200)
		t.regex(page.body, words)
	})

test('accepting an invitation is a first proof, too, and says so', async (t) => {
	const trap = await setupTrap(t)
	const { app, orm, post, mailTo } = trap
	const other = await createProject(orm)
	const inviter = await createUser(app, orm, 'inviter@example.org')
	await addMember(orm, other.project, inviter.user, 'OWNER')
	const url = `/projects/${other.project.id}/members`
	t.is((await post(url, { email }, inviter.headers)).statusCode, 202)
	for (let i = 0; i < 10; i++) await trap.login('incorrect horse')
	const { token } = await mailTo(email)
	const answer = await post('/auth/accept-invitation', { token, password: newPassword })
	t.is(await trap.login(newPassword), 200)
	t.is(answer.json().securedProjects, 1)
	t.is(await trap.keyStatus(), 401)
	t.is(await trap.openInvitations(), 0)
	t.regex((await mailTo(email)).body!, /accomplice@example\.org/)
})

for (const [who, path] of [
	['squatter', 'regenerate-keys'],
	['accomplice', 'regenerate-keys'],
	['accomplice', 'webhook-secret'],
	['accomplice', 'members'],
] as const)
	test(`while an account is secured, its ${who}'s ${path} comes too late`, async (t) => {
		const { post, project, headers, accomplice, ...trap } = await setupTrap(t)
		const folder = path === 'regenerate-keys' ? '/users/@me/projects' : '/projects'
		const late = await trap.answerTooLate(() =>
			post(
				`${folder}/${project.id}/${path}`,
				path === 'members' ? { email: 'fourth@example.org' } : {},
				who === 'squatter' ? headers : accomplice.headers,
			),
		)
		t.is(late.statusCode, 403)
		t.is(await trap.openInvitations(), 0)
	})

test('a project made while the account changes hands is not made', async (t) => {
	const { signup, post, pool } = await setupLinks(t)
	const headers = { cookie: cookieOf(await signup()), origin: 'http://localhost:3000' }
	const takeover = await pool.connect()
	await takeover.query('begin; update users set email_verified_at = now(); delete from sessions')
	const answer = post('/users/@me/projects', { name: 'Trap' }, headers)
	await lockWaits(t, pool, 1)
	await takeover.query('commit')
	takeover.release()
	t.is((await answer).statusCode, 401)
	t.is((await pool.query('select from memberships')).rowCount, 0)
})
