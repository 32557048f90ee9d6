import test, { type ExecutionContext } from 'ava'
import { createProject } from './helpers/app.ts'
import { addMember, createUser, password } from './helpers/people.ts'
import { guest, setupTeam } from './helpers/team.ts'

interface Pending {
	id: string
	email: string
	role: string
	invitedBy: string
	createdAt: string
	expiresAt: string
}

/** A team that has invited one guest. */
async function setupInvited(t: ExecutionContext, options: Parameters<typeof setupTeam>[1] = {}) {
	const context = await setupTeam(t, options)
	const { app, admin, project, call } = context
	const of = (id: string) => `/projects/${id}/invitations`
	const list = async (headers = admin.headers) => {
		const answer = await app.inject({ url: of(project.id), headers })
		t.is(answer.statusCode, 200)
		return answer.json<Pending[]>()
	}
	const revoke = (id: string, headers = admin.headers, inProject = project.id) =>
		app.inject({ method: 'DELETE', url: `${of(inProject)}/${id}`, headers })
	const resend = (id: string, headers = admin.headers, inProject = project.id) =>
		app.inject({ method: 'POST', url: `${of(inProject)}/${id}/resend`, headers })
	t.is((await call('POST', '', { email: guest, role: 'ADMIN' })).statusCode, 202)
	const [invitation] = await list()
	return { ...context, list, revoke, resend, invitation: invitation! }
}

test('members see the pending invitations, newest first, without those that expired', async (t) => {
	const { call, list, member, pool, invitation } = await setupInvited(t)
	const { id, createdAt, expiresAt, ...rest } = invitation
	t.deepEqual(rest, { email: guest, role: 'ADMIN', invitedBy: 'admin@example.org' })
	t.is(Date.parse(expiresAt) - Date.parse(createdAt), 7 * 24 * 3_600_000)
	await call('POST', '', { email: 'later@example.org' })
	const listed = await list(member.headers)
	t.deepEqual(
		listed.map(({ email }) => email),
		['later@example.org', guest],
	)
	await pool.query('update invitations set expires_at = now() where id = $1', [id])
	t.deepEqual(
		(await list()).map(({ email }) => email),
		['later@example.org'],
	)
})

test('an invitation that is accepted is pending no more', async (t) => {
	const { list, accept, mailTo } = await setupInvited(t)
	await accept({ token: (await mailTo(guest)).token, password })
	t.deepEqual(await list(), [])
})

test('the link of a revoked invitation stops working, which is in the audit log', async (t) => {
	const { app, list, revoke, accept, mailTo, invitation, project, owner } = await setupInvited(t)
	const gone = await revoke(invitation.id)
	t.is(gone.statusCode, 204)
	t.is(gone.body, '')
	t.deepEqual(await list(), [])
	const { token } = await mailTo(guest)
	t.is((await accept({ token, password })).statusCode, 400)
	t.is((await revoke(invitation.id)).statusCode, 404)
	const url = `/projects/${project.id}/audit`
	const { data } = (await app.inject({ url, headers: owner.headers })).json()
	t.like(data[0], {
		actor: { name: 'admin@example.org' },
		action: 'DELETE /projects/{id}/invitations/{invitationId}',
		target: { invitationId: invitation.id },
	})
})

test('an invitation that is sent again has a new link, and only that one works', async (t) => {
	const { resend, accept, mailTo, pool, invitation, owner, roles, wakes } = await setupInvited(t)
	const first = await mailTo(guest)
	await pool.query(`update invitations set expires_at = now() + '1 hour'`)
	const woken = wakes.count
	const answer = await resend(invitation.id, owner.headers)
	t.is(answer.statusCode, 200)
	t.true(wakes.count > woken)
	const renewed = answer.json<Pending>()
	t.like(renewed, {
		id: invitation.id,
		email: guest,
		role: 'ADMIN',
		invitedBy: 'owner@example.org',
	})
	t.true(Date.parse(renewed.expiresAt) >= Date.parse(invitation.expiresAt))
	const second = await mailTo(guest)
	t.is(second.count, 2)
	t.is((await accept({ token: first.token, password })).statusCode, 400)
	t.is((await accept({ token: second.token, password })).statusCode, 200)
	t.is((await roles())['new'], 'ADMIN')
	t.is((await resend(invitation.id)).statusCode, 404)
})

test('a person gets at most three mails about a project in an hour, however they are asked for', async (t) => {
	const { resend, list, mailTo, invitation } = await setupInvited(t)
	for (let n = 0; n < 2; n++) t.is((await resend(invitation.id)).statusCode, 200)
	const before = await list()
	const refused = await resend(invitation.id)
	t.is(refused.statusCode, 429)
	t.truthy(refused.headers['retry-after'])
	t.is((await mailTo(guest)).count, 3)
	t.deepEqual(await list(), before)
})

test('with a real provider, only verified administrators send an invitation again', async (t) => {
	const settings = { emailProvider: 'smtp' } as const
	const { resend, pool, invitation, owner } = await setupInvited(t, { settings })
	await pool.query('update users set email_verified_at = null where id = $1', [owner.id])
	const refused = await resend(invitation.id, owner.headers)
	t.is(refused.json().error.code, 'EMAIL_VERIFICATION_REQUIRED')
})

test('invitations are changed by administrators of their own project only', async (t) => {
	const { app, orm, list, revoke, resend, invitation, member } = await setupInvited(t)
	t.is((await revoke(invitation.id, member.headers)).statusCode, 403)
	t.is((await resend(invitation.id, member.headers)).statusCode, 403)
	const other = await createProject(orm)
	const stranger = await createUser(app, orm, 'stranger@example.org')
	await addMember(orm, other.project, stranger.user, 'OWNER')
	for (const act of [revoke, resend]) {
		t.is((await act(invitation.id, stranger.headers)).statusCode, 404)
		t.is((await act(invitation.id, stranger.headers, other.project.id)).statusCode, 404)
	}
	t.deepEqual(await list(), [invitation])
})
