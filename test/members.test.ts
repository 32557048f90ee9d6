import test from 'ava'
import { createProject } from './helpers/app.ts'
import { addMember, cookieOf, createUser, password } from './helpers/people.ts'
import { guest, type MemberBody, setupTeam } from './helpers/team.ts'

const team = { owner: 'OWNER', admin: 'ADMIN', member: 'MEMBER' }

test('members are listed in the order in which they came', async (t) => {
	const { call, owner } = await setupTeam(t)
	const answer = await call('GET')
	t.is(answer.statusCode, 200)
	const list = answer.json<MemberBody[]>()
	t.deepEqual(
		list.map(({ role }) => role),
		['OWNER', 'ADMIN', 'MEMBER'],
	)
	t.deepEqual(list[0], {
		userId: owner.id,
		email: 'owner@example.org',
		role: 'OWNER',
		createdAt: list[0]!.createdAt,
	})
})

test('an account with an unverified address is invited by mail like an unknown address', async (t) => {
	const { app, orm, pool, call, mailTo, accept, login, roles } = await setupTeam(t)
	const squatter = await createUser(app, orm, guest, { emailVerifiedAt: null })
	const added = await call('POST', '', { email: guest })
	t.is(added.statusCode, 202)
	t.deepEqual(added.json(), { invited: true, email: guest, role: 'MEMBER' })
	t.deepEqual(await roles(), team)
	// Verifying an address alone makes nobody a member.
	await pool.query('update users set email_verified_at = now() where email = $1', [guest])
	t.deepEqual(await roles(), team)
	await pool.query('update users set email_verified_at = null where email = $1', [guest])

	const { token } = await mailTo(guest)
	t.is((await accept({ token })).statusCode, 422)
	t.is((await accept({ token, password: 'the true owner’s' })).statusCode, 200)
	const { headers } = squatter
	t.is((await app.inject({ url: '/users/@me', headers })).statusCode, 401)
	t.is((await login(guest, password)).statusCode, 401)
	t.is((await login(guest, 'the true owner’s')).statusCode, 200)
	t.deepEqual(await roles(), { ...team, new: 'MEMBER' })
})

test('an unverified member is a member already', async (t) => {
	const { call, member, pool, mailTo } = await setupTeam(t)
	await pool.query('update users set email_verified_at = null where id = $1', [member.id])
	t.is((await call('POST', '', { email: 'member@example.org' })).statusCode, 409)
	t.is((await mailTo('member@example.org')).count, 0)
})

const announcements = {
	en: /You were added to .*admin@example\.org added you/s,
	de: /Sie wurden zu .*admin@example\.org hat Sie/s,
	fr: /Vous avez été ajouté à .*admin@example\.org vous a ajouté/s,
	es: /Le han añadido a .*admin@example\.org le ha añadido/s,
	nl: /U bent toegevoegd aan .*admin@example\.org heeft u/s,
}
test('being added to a project is announced by mail', async (t) => {
	const { app, orm, admin, call, mailTo, project, wakes } = await setupTeam(t)
	for (const [language, words] of Object.entries(announcements)) {
		const email = `${language}@example.org`
		await createUser(app, orm, email)
		const woken = wakes.count
		const headers = { ...admin.headers, 'accept-language': language }
		t.is((await call('POST', '', { email }, headers)).statusCode, 201)
		t.true(wakes.count > woken)
		const { mail, count } = await mailTo(email)
		t.is(count, 1)
		t.regex(mail!.body, words)
		t.true(mail!.subject.includes(project.name))
	}
})

test('repeated invitations mail a person at most three times an hour', async (t) => {
	const { app, orm, call, mailTo, roles } = await setupTeam(t)
	const { user } = await createUser(app, orm, guest)
	for (let n = 0; n < 3; n++) {
		t.is((await call('POST', '', { email: guest })).statusCode, 201)
		t.is((await call('DELETE', `/${user.id}`)).statusCode, 204)
	}
	t.is((await call('POST', '', { email: guest })).statusCode, 429)
	t.is((await mailTo(guest)).count, 3)
	t.deepEqual(await roles(), team)
})

test('a person with an account becomes a member at once, and only once', async (t) => {
	const { app, orm, call, roles, project } = await setupTeam(t)
	const { user, headers } = await createUser(app, orm, guest)
	const add = () => call('POST', '', { email: ' New@Example.org' })
	const answers = await Promise.all([add(), add()])
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
		[201, 409],
	)
	const added = answers.find(({ statusCode }) => statusCode === 201)!.json<MemberBody>()
	t.like(added, { userId: user.id, email: guest, role: 'MEMBER' })
	t.deepEqual(await roles(), { ...team, new: 'MEMBER' })
	const asMember = { ...headers, 'x-project-id': project.id }
	t.is((await app.inject({ url: '/contacts', headers: asMember })).statusCode, 200)
	t.is((await call('POST', '', { email: guest, role: 'ADMIN' })).json().error.code, 'CONFLICT')
	t.is((await call('POST', '', { email: guest, role: 'OWNER' })).statusCode, 422)
	t.is((await call('POST', '', { role: 'ADMIN' })).statusCode, 422)
})

test('roles change at once, except the owner’s and your own', async (t) => {
	const { app, call, member, owner, admin, roles, project } = await setupTeam(t)
	const rename = () =>
		app.inject({
			method: 'PATCH',
			url: `/users/@me/projects/${project.id}`,
			headers: member.headers,
			payload: { name: 'Renamed' },
		})
	t.is((await rename()).statusCode, 403)
	const changed = await call('PATCH', `/${member.id}`, { role: 'ADMIN' })
	t.is(changed.statusCode, 200)
	t.like(changed.json(), { userId: member.id, role: 'ADMIN', email: 'member@example.org' })
	t.is((await rename()).statusCode, 200)
	for (const id of [owner.id, admin.id, admin.id.toUpperCase()]) {
		t.is((await call('PATCH', `/${id}`, { role: 'MEMBER' })).statusCode, 403)
		t.is((await call('DELETE', `/${id}`)).statusCode, 403)
	}
	t.is((await call('DELETE', `/${owner.id}`, undefined, owner.headers)).statusCode, 403)
	t.is((await call('PATCH', `/${member.id}`, { role: 'OWNER' })).statusCode, 422)
	t.deepEqual(await roles(), { ...team, member: 'ADMIN' })
})

test('a removed member has no access from the next request on', async (t) => {
	const { app, call, member, roles, project } = await setupTeam(t)
	const headers = { ...member.headers, 'x-project-id': project.id }
	t.is((await app.inject({ url: '/contacts', headers })).statusCode, 200)
	t.is((await call('DELETE', `/${member.id}`)).statusCode, 204)
	t.is((await app.inject({ url: '/contacts', headers })).statusCode, 403)
	t.deepEqual(await roles(), { owner: 'OWNER', admin: 'ADMIN' })
	for (const id of [member.id, crypto.randomUUID(), 'nobody']) {
		const answer = await call('DELETE', `/${id}`)
		t.is(answer.statusCode, 404)
		t.deepEqual(answer.json().error.details, { resource: 'member', id })
		t.is((await call('PATCH', `/${id}`, { role: 'ADMIN' })).statusCode, 404)
	}
})

test('members of another project are not found', async (t) => {
	const { app, orm, call } = await setupTeam(t)
	const { project } = await createProject(orm)
	const { user } = await createUser(app, orm, guest)
	await addMember(orm, project, user, 'MEMBER')
	t.is((await call('PATCH', `/${user.id}`, { role: 'ADMIN' })).statusCode, 404)
	t.is((await call('DELETE', `/${user.id}`)).statusCode, 404)
	t.is(
		(await orm.em.fork().execute('select from memberships where role = ?', ['MEMBER'])).length,
		2,
	)
})

test('a person without an account is invited by mail, and joins with a password of their own', async (t) => {
	const { app, call, mailTo, roles, accept, login, project } = await setupTeam(t)
	const invited = await call('POST', '', { email: guest, role: 'ADMIN' })
	t.is(invited.statusCode, 202)
	t.deepEqual(invited.json(), { invited: true, email: guest, role: 'ADMIN' })
	t.deepEqual(await roles(), team)
	const { mail, token } = await mailTo(guest)
	t.true(mail!.subject.includes(project.name) && mail!.body.includes('admin@example.org'))

	const without = await accept({ token })
	t.is(without.statusCode, 422)
	t.is(without.json().error.errors[0].field, 'password')
	t.is((await accept({ token, password: 'short' })).statusCode, 422)
	const accepted = await Promise.all([accept({ token, password }), accept({ token, password })])
	t.deepEqual(
		accepted.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
		[200, 400],
	)
	t.deepEqual(await roles(), { ...team, new: 'ADMIN' })
	const cookie = cookieOf(await login(guest, password))
	t.true((await app.inject({ url: '/users/@me', headers: { cookie } })).json().emailVerified)
	t.is((await accept({ token, password })).statusCode, 400)
	t.is((await accept({ token: 'nonsense', password })).json().error.code, 'BAD_REQUEST')
})

test('an unverified account with the address loses its access', async (t) => {
	const { app, call, mailTo, accept, login, roles } = await setupTeam(t)
	await call('POST', '', { email: guest })
	const { token } = await mailTo(guest)
	const squatter = await app.inject({
		method: 'POST',
		url: '/auth/signup',
		payload: { email: guest, password: 'the squatter’s' },
	})
	t.is((await accept({ token })).statusCode, 422)
	t.is((await accept({ token, password })).statusCode, 200)
	const cookie = cookieOf(squatter)
	t.is((await app.inject({ url: '/users/@me', headers: { cookie } })).statusCode, 401)
	t.is((await login(guest, 'the squatter’s')).statusCode, 401)
	t.is((await login(guest, password)).statusCode, 200)
	t.deepEqual(await roles(), { ...team, new: 'MEMBER' })
})

test('a person who has verified the address since needs no new password', async (t) => {
	const { app, orm, call, mailTo, accept, login, roles } = await setupTeam(t)
	await call('POST', '', { email: guest })
	const { token } = await mailTo(guest)
	await createUser(app, orm, guest)
	t.is((await accept({ token, password: 'whatever it may be' })).statusCode, 200)
	t.is((await login(guest, password)).statusCode, 200)
	t.deepEqual(await roles(), { ...team, new: 'MEMBER' })
})

test('a later invitation replaces an earlier one; three an hour for an address', async (t) => {
	const { call, mailTo, accept, roles } = await setupTeam(t)
	await call('POST', '', { email: guest })
	const first = await mailTo(guest)
	await call('POST', '', { email: guest, role: 'ADMIN' })
	const second = await mailTo(guest)
	t.is((await accept({ token: first.token, password })).statusCode, 400)
	t.is((await call('POST', '', { email: guest, role: 'ADMIN' })).statusCode, 202)
	t.is((await call('POST', '', { email: guest, role: 'ADMIN' })).statusCode, 429)
	t.is((await mailTo(guest)).count, 3)
	t.is((await accept({ token: second.token, password })).statusCode, 400)
	t.is((await accept({ token: (await mailTo(guest)).token, password })).statusCode, 200)
	t.deepEqual(await roles(), { ...team, new: 'ADMIN' })
})

test('an invitation ends after a week, and with its project', async (t) => {
	const { app, pool, call, mailTo, accept, owner, project } = await setupTeam(t)
	await call('POST', '', { email: guest })
	const { token } = await mailTo(guest)
	await pool.query(`update invitations set expires_at = expires_at - interval '7 days'`)
	t.is((await accept({ token, password })).statusCode, 400)
	await pool.query(`update invitations set expires_at = expires_at + interval '7 days'`)
	const url = `/users/@me/projects/${project.id}`
	t.is((await app.inject({ method: 'DELETE', url, headers: owner.headers })).statusCode, 204)
	t.is((await accept({ token, password })).statusCode, 400)
})

test('the page of an invitation asks for a password if one is needed', async (t) => {
	const { app, orm, call, mailTo, project, roles } = await setupTeam(t)
	await call('POST', '', { email: guest })
	const { token } = await mailTo(guest)
	const url = `/auth/accept-invitation?token=${token}`
	const page = await app.inject(url)
	t.is(page.statusCode, 200)
	t.true(page.body.includes(project.name) && page.body.includes(guest))
	t.regex(page.body, /type="password"[^>]* name="password"/)
	await createUser(app, orm, guest)
	t.notRegex((await app.inject(url)).body, /type="password"/)
	const nowhere = await app.inject('/auth/accept-invitation?token=x')
	t.is(nowhere.statusCode, 400)
	t.regex(nowhere.body, /no longer valid/)
	const joined = await app.inject({
		method: 'POST',
		url: '/auth/accept-invitation',
		payload: `token=${token}`,
		headers: { 'content-type': 'application/x-www-form-urlencoded' },
	})
	t.is(joined.statusCode, 200)
	t.regex(joined.body, /<h1>You are a member now/)
	t.is((await roles())['new'], 'MEMBER')
})
