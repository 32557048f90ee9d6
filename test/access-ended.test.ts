import test from 'ava'
import { randomUUID } from 'node:crypto'
import { lockWaits } from './helpers/locks.ts'
import { setupTeam } from './helpers/team.ts'

const acts = {
	'change a role': {
		method: 'PATCH',
		url: 'projects/:id/members/:member',
		payload: { role: 'ADMIN' },
	},
	'remove a member': { method: 'DELETE', url: 'projects/:id/members/:member' },
	'revoke an invitation': { method: 'DELETE', url: 'projects/:id/invitations/:invitation' },
	'rename the project': {
		method: 'PATCH',
		url: 'users/@me/projects/:id',
		payload: { name: 'Mine' },
	},
	'reset the project': { method: 'POST', url: 'users/@me/projects/:id/reset' },
	'delete the project': { method: 'DELETE', url: 'users/@me/projects/:id' },
	'add a domain': { method: 'POST', url: 'domains', payload: { domain: 'late.example.org' } },
} as const

for (const [act, { url, ...request }] of Object.entries(acts))
	test(`a person who is removed while their request to ${act} arrives comes too late`, async (t) => {
		const { app, pool, project, owner, member, roles } = await setupTeam(t)
		const invitation = randomUUID()
		await pool.query(
			`insert into invitations (id, project_id, email, role, token_digest, invited_by, expires_at)
			values ($1, $2, 'new@example.org', 'MEMBER', uuid_send($1), 'owner@example.org', now() + interval '1 day')`,
			[invitation, project.id],
		)
		const state = async () => ({
			roles: await roles(),
			...(
				await pool.query(
					`select (select count(*)::int from invitations) as invitations,
						(select count(*)::int from domains) as domains, p.name, p.id from projects p
					where public_id = $1`,
					[project.id],
				)
			).rows[0],
		})
		const before = await state()
		const holder = await pool.connect()
		t.teardown(() => holder.release(true))
		await holder.query('begin')
		await holder.query('select from projects where id = $1 for no key update', [project.id])
		await holder.query('delete from sessions where user_id = $1', [owner.id])
		const places: Record<string, string> = { id: project.id, member: member.id, invitation }
		const late = app.inject({
			...request,
			url: `/${url.replace(/:(\w+)/g, (_, name: string) => places[name]!)}`,
			headers: { ...owner.headers, 'x-project-id': project.id },
		})
		await lockWaits(t, pool, 1)
		await holder.query('commit')
		const { statusCode, json } = await late
		t.is(statusCode, 403)
		t.is(json().error.code, 'PROJECT_ACCESS_DENIED')
		t.deepEqual(await state(), before)
	})
