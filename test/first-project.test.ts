import test, { type ExecutionContext } from 'ava'
import { newLoginToken } from '../db/accounts/login-token.ts'
import { hashPassword } from '../db/accounts/password.ts'
import { User } from '../db/accounts/user.ts'
import { poolOf } from '../db/statement.ts'
import { bootstrapProject } from '../local/bootstrap.ts'
import type { FirstProject } from '../local/data-dir.ts'
import { startApp } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'
import { cookieOf, origin } from './helpers/people.ts'

async function setupFirst(t: ExecutionContext) {
	const orm = await setupDatabase(t)
	const { app } = await startApp(t, orm)
	let remembered: FirstProject | undefined
	const start = () =>
		bootstrapProject(orm.em.fork(), {
			remembered,
			remember: (project) => void (remembered = project),
		})
	const first = (await start()) as FirstProject
	return { orm, app, start, first }
}

test('the owner that a first start makes logs in, and a reset does not lose the project', async (t) => {
	const { app, start, first } = await setupFirst(t)
	const { email, password, projectId, secretKey } = first
	const login = await app.inject({
		method: 'POST',
		url: '/auth/login',
		payload: { email, password },
	})
	t.is(login.statusCode, 200)
	const headers = { cookie: cookieOf(login), origin }
	const listed = await app.inject({ url: '/users/@me/projects', headers })
	t.like(listed.json()[0], { id: projectId, role: 'OWNER' })

	const reset = { method: 'POST', url: `/users/@me/projects/${projectId}/reset`, headers } as const
	t.is((await app.inject(reset)).statusCode, 200)
	t.deepEqual(await start(), first)
	const authorization = `Bearer ${secretKey}`
	t.is((await app.inject({ url: '/contacts', headers: { authorization } })).statusCode, 200)
})

test('after its keys were replaced, the next start still shows the project and its account, and logs in', async (t) => {
	const { orm, app, start, first } = await setupFirst(t)
	const { projectId, email, password } = first
	const logIn = async () => {
		const token = await newLoginToken(await poolOf(orm.em), (await start())!.projectId)
		return app.inject({ url: `/auth/local?token=${token}` })
	}
	const headers = { cookie: cookieOf(await logIn()), origin }
	const url = `/users/@me/projects/${projectId}/regenerate-keys`
	const replaced = await app.inject({ method: 'POST', url, headers })
	t.is(replaced.statusCode, 200)
	const { public: publicKey } = replaced.json()
	t.deepEqual(await start(), { projectId, publicKey, secretKey: null, email, password })
	t.is((await logIn()).statusCode, 303)
})

test('after the owner’s password was changed, the next start shows the account without it', async (t) => {
	const { orm, start, first } = await setupFirst(t)
	const em = orm.em.fork()
	const owner = await em.findOneOrFail(User, { email: first.email })
	owner.passwordHash = await hashPassword('correct horse battery')
	await em.flush()
	t.deepEqual(await start(), { ...first, password: null })
})

test('a start after the project was deleted knows nothing of it', async (t) => {
	const { orm, app, start, first } = await setupFirst(t)
	const token = await newLoginToken(await poolOf(orm.em), first.projectId)
	const headers = { cookie: cookieOf(await app.inject(`/auth/local?token=${token}`)), origin }
	const url = `/users/@me/projects/${first.projectId}`
	t.is((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
	t.is(await start(), undefined)
})
