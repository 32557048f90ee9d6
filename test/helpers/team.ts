import type { ExecutionContext } from 'ava'
import { platformProjectId } from '../../db/emails/platform-mail.ts'
import { setup } from './app.ts'
import { addMember, createUser } from './people.ts'

export interface MemberBody {
	userId: string
	email: string
	role: string
	createdAt: string
}

export const guest = 'new@example.org'

/** A project with an owner, an admin and a member. By default the admin makes the requests. */
export const setupTeam = async (t: ExecutionContext, options: Parameters<typeof setup>[1] = {}) =>
	withTeam(await setup(t, options))

/** The same for an API that was set up before. */
export async function withTeam<Context extends Awaited<ReturnType<typeof setup>>>(
	context: Context,
) {
	const { app, orm, pool, project } = context
	const person = async (email: string, role: 'OWNER' | 'ADMIN' | 'MEMBER') => {
		const { user, headers } = await createUser(app, orm, email)
		await addMember(orm, project, user, role)
		return { id: user.id, headers }
	}
	const owner = await person('owner@example.org', 'OWNER')
	const admin = await person('admin@example.org', 'ADMIN')
	const member = await person('member@example.org', 'MEMBER')
	type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
	const call = (method: Method, path = '', payload?: object, headers = admin.headers) =>
		app.inject({
			method,
			url: `/projects/${project.id}/members${path}`,
			headers,
			...(payload ? { payload } : {}),
		})
	async function mailTo(address: string) {
		const { rows } = await pool.query<{ body: string; subject: string }>(
			`select body, subject from emails where project_id = $1 and "to" = $2 order by id desc`,
			[platformProjectId, address],
		)
		return {
			mail: rows[0],
			count: rows.length,
			token: /token=([\w-]+)"/.exec(rows[0]?.body ?? '')?.[1],
		}
	}
	const roles = async () =>
		Object.fromEntries(
			(await call('GET'))
				.json<MemberBody[]>()
				.map(({ email, role }) => [email.split('@')[0], role]),
		)
	const accept = (payload: object) =>
		app.inject({ method: 'POST', url: '/auth/accept-invitation', payload })
	const login = (email: string, password: string) =>
		app.inject({ method: 'POST', url: '/auth/login', payload: { email, password } })
	return { ...context, owner, admin, member, call, mailTo, roles, accept, login }
}
