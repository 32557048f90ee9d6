import test from 'ava'
import { bootstrapProject } from '../local/bootstrap.ts'
import type { FirstProject } from '../local/data-dir.ts'
import { startApp } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'
import { cookieOf, origin } from './helpers/people.ts'

test('the owner that a first start makes logs in, and a reset does not lose the project', async (t) => {
	const orm = await setupDatabase(t)
	const { app } = await startApp(t, orm)
	let remembered: FirstProject | undefined
	const start = () =>
		bootstrapProject(orm.em.fork(), {
			remembered,
			remember: (project) => void (remembered = project),
		})
	const first = await start()
	const { email, password, projectId, secretKey } = first!
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
