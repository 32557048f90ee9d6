import type { Browser } from 'playwright-core'
import { Membership } from '../../db/projects/membership.ts'
import { User } from '../../db/accounts/user.ts'
import type { Stack } from '../stack.ts'

export interface Visit {
	stack: Stack
	browser: Browser
	/** The session of an owner. */
	cookie: { name: string; value: string }
}

/** An owner of the project, logged in. */
export async function createPerson({ apiUrl, orm, projectId }: Stack) {
	const person = { email: 'ann@example.org', password: 'correct horse battery' }
	const answer = await fetch(`${apiUrl}/auth/signup`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(person),
	})
	if (!answer.ok) throw new Error(await answer.text())
	const em = orm.em.fork()
	const user = await em.findOneOrFail(User, { email: person.email })
	user.emailVerifiedAt = new Date()
	em.create(Membership, { projectId, userId: user.id, role: 'OWNER' })
	await em.flush()
	const [name, value] = answer.headers.getSetCookie()[0]!.split(';')[0]!.split('=')
	return { name: name!, value: value! }
}

/** A page of the console in a browser that has seen nothing of it yet. */
export async function openPage({ stack, browser, cookie }: Visit) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
	await context.addCookies([{ ...cookie, url: originOf(stack) }])
	return { page: await context.newPage(), close: () => context.close() }
}

/** The origin whose pages may use a session. */
export const originOf = ({ apiUrl }: Stack) => `http://localhost:${new URL(apiUrl).port}`

export const addressOf = (stack: Stack, path: string) =>
	`${originOf(stack)}/console/${stack.projectId}${path && `/${path}`}`
