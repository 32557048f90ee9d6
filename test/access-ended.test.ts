import test, { type ExecutionContext } from 'ava'
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request as open } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setup } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { setupTeam, withTeam } from './helpers/team.ts'

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

/** A team whose API listens, and a caller that keeps its body back. */
async function setupSlowCaller(t: ExecutionContext) {
	const context = await setup(t)
	const { app } = context
	const identified = new EventEmitter()
	app.addHook('preParsing', (_request, _reply, _payload, done) => {
		identified.emit('caller')
		done()
	})
	await app.listen({ port: 0, host: '127.0.0.1' })
	const { port } = app.server.address() as AddressInfo

	/** Resolves when the API knows the caller and waits for the body. */
	async function begin(path: string, headers: OutgoingHttpHeaders) {
		const request = open({ port, path, method: 'POST', headers })
		const answered = once(request, 'response') as Promise<[IncomingMessage]>
		const isIdentified = once(identified, 'caller')
		request.flushHeaders()
		await isIdentified
		return async (body: string) => {
			request.end(body)
			const [answer] = await answered
			const { error } = (await json(answer)) as { error?: { code: string } }
			return [answer.statusCode, error?.code]
		}
	}
	return { ...(await withTeam(context)), begin }
}

const contact = JSON.stringify({ email: 'late@example.org' })
const file =
	'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\r\n--b--\r\n'
const bodies = [
	{ path: '/contacts', type: 'application/json', body: contact },
	{ path: '/contacts/import', type: 'multipart/form-data; boundary=b', body: file },
]

for (const { path, type, body } of bodies)
	test(`a body for ${path} that arrives after the end of its sender's access does nothing`, async (t) => {
		const { app, pool, project, owner, admin, member, call, withSecretKey, begin } =
			await setupSlowCaller(t)
		const ofMember = { ...member.headers, 'x-project-id': project.id }
		const callers = [withSecretKey, ofMember, { ...ofMember, cookie: admin.headers.cookie }]
		const senders: Awaited<ReturnType<typeof begin>>[] = []
		for (const headers of callers)
			senders.push(await begin(path, { ...headers, 'content-type': type }))
		await app.inject({
			method: 'POST',
			url: `/users/@me/projects/${project.id}/regenerate-keys`,
			headers: owner.headers,
		})
		await call('DELETE', `/${member.id}`)
		await app.inject({ url: '/auth/logout', headers: admin.headers })
		t.deepEqual(await Promise.all(senders.map((send) => send(body))), [
			[401, 'INVALID_API_KEY'],
			[403, 'PROJECT_ACCESS_DENIED'],
			[401, 'INVALID_API_KEY'],
		])
		const { rows } = await pool.query('select id from contacts union all select id from jobs')
		t.deepEqual(rows, [])
	})

test('a body that arrives after its project was disabled does nothing', async (t) => {
	const { pool, withSecretKey, begin } = await setupSlowCaller(t)
	const send = await begin('/contacts', { ...withSecretKey, 'content-type': 'application/json' })
	await pool.query(`update projects set disabled_reason = 'MANUAL' where public_id is not null`)
	t.deepEqual(await send(contact), [403, 'PROJECT_DISABLED'])
	t.is((await pool.query('select from contacts')).rowCount, 0)
})

test('a body that arrives late from somebody who still has access is accepted', async (t) => {
	const { pool, withSecretKey, begin } = await setupSlowCaller(t)
	const send = await begin('/contacts', { ...withSecretKey, 'content-type': 'application/json' })
	t.deepEqual(await send(contact), [201, undefined])
	t.is((await pool.query('select from contacts')).rowCount, 1)
})
