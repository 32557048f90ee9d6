import type { ExecutionContext } from 'ava'
import { platformProjectId } from '../../db/emails/platform-mail.ts'
import { setup } from './app.ts'
import { lockWaits } from './locks.ts'
import { addMember, cookieOf, createUser, password } from './people.ts'

export const email = 'anna@example.org'
export const newPassword = 'another horse battery'

export async function setupLinks(t: ExecutionContext, options: Parameters<typeof setup>[1] = {}) {
	const context = await setup(t, options)
	const { app, pool } = context
	const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
		app.inject({ method: 'POST', url, payload, headers })
	const submit = (url: string, fields: Record<string, string>) =>
		app.inject({
			method: 'POST',
			url,
			payload: new URLSearchParams(fields).toString(),
			headers: { 'content-type': 'application/x-www-form-urlencoded' },
		})
	/** Our newest mail to an address, and the token in its link. */
	async function mailTo(address: string) {
		const { rows } = await pool.query<{ body: string; language: string; from: string }>(
			`select body, language, "from" from emails where project_id = $1 and "to" = $2
			order by id desc`,
			[platformProjectId, address],
		)
		const link = rows[0] && /href="([^"]*token=([\w-]+))"/.exec(rows[0].body)
		return { count: rows.length, ...rows[0], url: link?.[1] ?? '', token: link?.[2] ?? '' }
	}
	return {
		...context,
		post,
		submit,
		mailTo,
		signup: () => post('/auth/signup', { email, password }),
		login: async (password: string) => (await post('/auth/login', { email, password })).statusCode,
		me: async (cookie: string) => app.inject({ url: '/users/@me', headers: { cookie } }),
	}
}

/** A person has signed up with another's address, created a project, and invited others. */
export async function setupTrap(t: ExecutionContext) {
	const context = await setupLinks(t, { settings: { emailProvider: 'smtp' } })
	const { app, orm, pool, signup, post, mailTo } = context
	const headers = { cookie: cookieOf(await signup()), origin: 'http://localhost:3000' }
	const created = await post('/users/@me/projects', { name: 'Trap' }, headers)
	const project = created.json<{ id: string; secret: string; public: string }>()
	const accomplice = await createUser(app, orm, 'accomplice@example.org')
	await addMember(orm, project as never, accomplice.user, 'ADMIN')
	const asAccomplice = (method: 'GET' | 'POST', path: string, payload?: object) =>
		app.inject({
			method,
			url: `/projects/${project.id}${path}`,
			headers: accomplice.headers,
			...(payload ? { payload } : {}),
		})
	t.is((await asAccomplice('POST', '/members', { email: 'third@example.org' })).statusCode, 202)
	const oldSecret = (await asAccomplice('GET', '/webhook-secret')).json().secret as string
	async function resetToken() {
		await post('/auth/request-password-reset', { email })
		return (await mailTo(email)).token
	}
	return {
		...context,
		headers,
		project,
		accomplice,
		asAccomplice,
		oldSecret,
		resetToken,
		/** The answer to a request that is sent while the account is being secured, and waits for that. */
		async answerTooLate<T>(request: () => Promise<T>) {
			const token = await resetToken()
			const blocker = await pool.connect()
			await blocker.query(`begin; select from projects where name = 'Trap' for update`)
			const securing = post('/auth/reset-password', { token, newPassword })
			await lockWaits(t, pool, 1)
			const late = request()
			await lockWaits(t, pool, 2)
			await blocker.query('commit')
			blocker.release()
			t.is((await securing).statusCode, 200)
			return late
		},
		async trackStatus() {
			const authorization = `Bearer ${project.public}`
			const event = { email: 'c@example.org', event: 'x' }
			return (await post('/v1/track', event, { authorization })).statusCode
		},
		async keyStatus() {
			const authorization = `Bearer ${project.secret}`
			return (await app.inject({ url: '/contacts', headers: { authorization } })).statusCode
		},
		openInvitations: async () => (await pool.query('select from invitations')).rowCount,
	}
}
