import type { ExecutionContext } from 'ava'
import { setup } from './app.ts'
import { password } from './people.ts'

export const email = 'anna@example.org'

/** An API without accounts, and Anna's requests to it. */
export async function setupAccounts(
	t: ExecutionContext,
	options: Parameters<typeof setup>[1] = {},
) {
	const context = await setup(t, options)
	const { app } = context
	const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
		app.inject({ method: 'POST', url, payload, headers })
	return {
		...context,
		post,
		signup: (payload: object = { email, password }) => post('/auth/signup', payload),
		login: (payload: object = { email, password }, headers = {}) =>
			post('/auth/login', payload, headers),
		me: (cookie: string) => app.inject({ url: '/users/@me', headers: { cookie } }),
	}
}
