import test from 'ava'
import { createProject } from './helpers/app.ts'
import { addMember, createUser, password } from './helpers/people.ts'
import { guest, setupTeam } from './helpers/team.ts'

test('with a real provider only users with a verified address can invite', async (t) => {
	const { call, owner, pool, mailTo } = await setupTeam(t, { settings: { emailProvider: 'smtp' } })
	const invite = () => call('POST', '', { email: guest }, owner.headers)
	await pool.query('update users set email_verified_at = null where id = $1', [owner.id])
	const refused = await invite()
	t.is(refused.statusCode, 403)
	t.is(refused.json().error.code, 'EMAIL_VERIFICATION_REQUIRED')
	t.is((await mailTo(guest)).count, 0)
	await pool.query('update users set email_verified_at = now()')
	const invited = await invite()
	t.is(invited.statusCode, 202)
	t.regex(String(invited.headers['location']), /^\/projects\/[0-9a-f-]+\/members$/)
})

test('invitations are limited by inviter and by network, across projects', async (t) => {
	const { app, orm, owner, admin, member, call } = await setupTeam(t)
	const other = await createProject(orm)
	for (const person of [owner, member])
		await addMember(orm, other.project, { id: person.id } as never, 'ADMIN')
	const inOther = (n: number, { headers } = owner, ip = '192.0.2.1') =>
		app.inject({
			method: 'POST',
			url: `/projects/${other.project.id}/members`,
			headers: { ...headers, 'x-forwarded-for': ip },
			payload: { email: `${n}@example.org` },
		})
	for (let n = 0; n < 50; n++)
		t.is((await call('POST', '', { email: `${n}@example.org` }, owner.headers)).statusCode, 202)
	t.is((await inOther(1)).statusCode, 429)
	// Another user is a different inviter, so only the network's limit applies.
	t.is((await inOther(1, member)).statusCode, 202)
	for (let n = 0; n < 51; n++) await inOther(n, member, '198.51.100.7')
	const third = await createProject(orm)
	await addMember(orm, third.project, { id: admin.id } as never, 'ADMIN')
	const inThird = (ip: string) =>
		app.inject({
			method: 'POST',
			url: `/projects/${third.project.id}/members`,
			headers: { ...admin.headers, 'x-forwarded-for': ip },
			payload: { email: guest },
		})
	for (let n = 0; n < 49; n++) await inOther(n, owner, '198.51.100.7')
	t.is((await inThird('198.51.100.7')).statusCode, 429)
	t.is((await inThird('203.0.113.9')).statusCode, 202)
})

test('the lookup of accounts needs a verified address, and is rate-limited', async (t) => {
	const { app, orm, call, owner, pool, roles } = await setupTeam(t, {
		settings: { emailProvider: 'smtp' },
	})
	await createUser(app, orm, guest)
	const add = (email: string) => call('POST', '', { email }, owner.headers)
	await pool.query('update users set email_verified_at = null where id = $1', [owner.id])
	for (const email of [guest, 'admin@example.org', 'nobody@example.org'])
		t.is((await add(email)).json().error.code, 'EMAIL_VERIFICATION_REQUIRED', email)
	t.is((await roles())['new'], undefined)

	await pool.query('update users set email_verified_at = now()')
	for (let n = 0; n < 50; n++) t.is((await add('admin@example.org')).statusCode, 409)
	for (const email of [guest, 'admin@example.org', 'nobody@example.org'])
		t.is((await add(email)).statusCode, 429, email)
	t.is((await roles())['new'], undefined)
})

test('a member who loses their role has no valid invitations left', async (t) => {
	const { call, pool, member, owner, project, app, orm } = await setupTeam(t)
	const open = async () =>
		(await pool.query<{ email: string }>('select email from invitations order by email')).rows.map(
			(row) => row.email,
		)
	const invitations = () =>
		pool.query(
			`insert into invitations (project_id, email, role, token_digest, invited_by, expires_at)
			select $1, email, 'ADMIN', uuid_send(uuidv7()), invited_by, now() + interval '1 day'
			from (values ('member@example.org', 'owner@example.org'), ('a@example.org', 'member@example.org'),
				('b@example.org', 'owner@example.org')) as v(email, invited_by)
			on conflict do nothing`,
			[project.id],
		)
	await invitations()
	const setRole = (role: string) => call('PATCH', `/${member.id}`, { role }, owner.headers)
	t.is((await setRole('ADMIN')).statusCode, 200)
	t.is((await open()).length, 3)
	t.is((await setRole('MEMBER')).statusCode, 200)
	t.deepEqual(await open(), ['b@example.org'])
	await invitations()
	t.is((await call('DELETE', `/${member.id}`, undefined, owner.headers)).statusCode, 204)
	t.deepEqual(await open(), ['b@example.org'])
	await createUser(app, orm, 'b@example.org')
	t.is((await call('POST', '', { email: 'b@example.org' })).statusCode, 201)
	t.deepEqual(await open(), [])
})

test('accepting an invitation is in the audit log', async (t) => {
	const { app, call, mailTo, accept, owner, project } = await setupTeam(t)
	await call('POST', '', { email: guest })
	t.is((await accept({ token: (await mailTo(guest)).token, password })).statusCode, 200)
	const url = `/projects/${project.id}/audit`
	const { data } = (await app.inject({ url, headers: owner.headers })).json()
	t.like(data[0], { actor: { type: 'user', name: guest }, action: 'POST /auth/accept-invitation' })
	t.is(data.length, 2)
})
