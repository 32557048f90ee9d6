import type { MikroORM } from '@mikro-orm/postgresql'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { hashPassword } from '../../db/accounts/password.ts'
import type { Role } from '../../db/accounts/session.ts'
import { User } from '../../db/accounts/user.ts'
import { Membership } from '../../db/projects/membership.ts'
import type { Project } from '../../db/projects/project.ts'

export const origin = 'http://localhost:3000'
export const password = 'correct horse battery'

// Once per process, because hashing is slow by design.
const hash = hashPassword(password)

export const cookieOf = (response: LightMyRequestResponse) => {
	const { value } = response.cookies.find(({ name }) => name === 'session')!
	return `session=${value}`
}

/** A user with an account, logged in, making requests as the browser does from our pages. */
export async function createUser(
	app: FastifyInstance,
	orm: MikroORM,
	email: string,
	columns: Partial<User> = {},
) {
	const em = orm.em.fork()
	const user = em.create(User, {
		email,
		passwordHash: await hash,
		emailVerifiedAt: new Date(),
		...columns,
	})
	await em.flush()
	const login = await app.inject({
		method: 'POST',
		url: '/auth/login',
		payload: { email, password },
	})
	return { user, headers: { cookie: cookieOf(login), origin } }
}

export async function addMember(orm: MikroORM, project: Project, user: User, role: Role) {
	const em = orm.em.fork()
	em.create(Membership, { projectId: project.id, userId: user.id, role })
	await em.flush()
}
