import test, { type ExecutionContext } from 'ava'
import type { InjectOptions } from 'fastify'
import { newLoginToken } from '../db/accounts/login-token.ts'
import { setupTeam } from './helpers/team.ts'

/** A team, and the token that its owner's machine shows. */
async function setupLink(t: ExecutionContext) {
	const context = await setupTeam(t)
	const { app, pool, project } = context
	const newToken = async () => (await newLoginToken(pool, project.id))!
	const token = await newToken()
	const open = (given: string, options: InjectOptions = {}) =>
		app.inject({ url: `/auth/local?token=${given}`, ...options })
	return { ...context, newToken, token, open }
}

test('the link of npm start logs the owner in, once', async (t) => {
	const { app, open, token } = await setupLink(t)
	const answers = await Promise.all([open(token), open(token)])
	const statuses = answers.map(({ statusCode }) => statusCode)
	t.deepEqual(
		statuses.toSorted((a, b) => a - b),
		[303, 400],
	)
	const first = answers.find(({ statusCode }) => statusCode === 303)!
	t.is(first.headers.location, '/')
	t.is(first.body, '')
	const [cookie, ...others] = first.cookies
	t.deepEqual(others, [])
	t.like(cookie, { name: 'session', httpOnly: true, sameSite: 'Lax', path: '/' })
	const me = await app.inject({
		url: '/users/@me',
		headers: { cookie: `session=${cookie!.value}` },
	})
	t.is(me.json().email, 'owner@example.org')
})

test('a link that was used, or that never was one, shows a page with a way to the console', async (t) => {
	const { open, token } = await setupLink(t)
	await open(token)
	for (const spent of [token, 'x', '']) {
		const page = await open(spent)
		t.is(page.statusCode, 400)
		t.regex(String(page.headers['content-type']), /^text\/html/)
		t.is(page.headers['set-cookie'], undefined)
		t.regex(page.body, /no longer valid.*<a href="\/">/s)
	}
	const german = await open('x', { headers: { 'accept-language': 'de' } })
	t.regex(german.body, /Konsole öffnen/)
})

test('a new start replaces the link of the last one', async (t) => {
	const { open, newToken, token } = await setupLink(t)
	const next = await newToken()
	t.is((await open(token)).statusCode, 400)
	t.is((await open(next)).statusCode, 303)
})

test('from anywhere but this machine, the link is an unknown route and stays unspent', async (t) => {
	const { app, open, token } = await setupLink(t)
	const local = { remoteAddress: '127.0.0.1', headers: { host: 'localhost:3000' } }
	const refused: InjectOptions[] = [
		{ ...local, remoteAddress: '192.168.1.5' },
		{ ...local, remoteAddress: '2001:db8::1' },
		{ ...local, headers: { host: 'evil.example' } },
		{ ...local, headers: { ...local.headers, 'x-forwarded-for': '192.168.1.5' } },
		{ ...local, headers: { ...local.headers, forwarded: 'for=192.168.1.5' } },
	]
	for (const options of refused) {
		const answer = await open(token, options)
		const unknown = await app.inject({ url: '/nowhere', ...options })
		t.is(answer.statusCode, 404, JSON.stringify(options))
		t.is(answer.headers['set-cookie'], undefined)
		t.is(answer.json().error.message, 'There is no GET /auth/local')
		t.deepEqual(Object.keys(answer.json().error), Object.keys(unknown.json().error))
	}
	t.is((await open(token, local)).statusCode, 303)
})

test('a HEAD does not spend the link', async (t) => {
	const { open, token } = await setupLink(t)
	t.is((await open(token, { method: 'HEAD' })).statusCode, 404)
	t.is((await open(token)).statusCode, 303)
})

test('the link is valid for a day, and for nothing else', async (t) => {
	const { app, pool, open, newToken, token, owner } = await setupLink(t)
	const newPassword = 'another horse battery'
	const reset = { token, newPassword }
	const answer = await app.inject({ method: 'POST', url: '/auth/reset-password', payload: reset })
	t.is(answer.statusCode, 400)
	const { rows } = await pool.query(
		`select user_id = $1 as "isOwner", expires_at between now() + '23 hours' and now() + '1 day' as "isDay"
		from account_tokens`,
		[owner.id],
	)
	t.deepEqual(rows, [{ isOwner: true, isDay: true }])
	await pool.query('update account_tokens set expires_at = now()')
	t.is((await open(token)).statusCode, 400)
	const other = await newToken()
	await pool.query(`update account_tokens set purpose = 'VERIFY_EMAIL'`)
	t.is((await open(other)).statusCode, 400)
})

test('a project without an owner gets no link', async (t) => {
	const { pool, project } = await setupLink(t)
	await pool.query(`delete from memberships where role = 'OWNER'`)
	t.is(await newLoginToken(pool, project.id), undefined)
})
