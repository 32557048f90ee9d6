import test from 'ava'
import type { FastifyInstance } from 'fastify'
import { type Auth, authKinds } from '../api/requests/auth.ts'
import { keyDigest, newKeys } from '../db/projects/project-keys.ts'
import { Project } from '../db/projects/project.ts'
import { createProject, setup } from './helpers/app.ts'

const kinds = authKinds.filter((auth) => auth !== 'session')

/** A route of each kind, to read and to write; sessions have theirs in the table of roles. */
async function probes(app: FastifyInstance) {
	for (const auth of kinds)
		app.route({
			method: ['GET', 'POST'],
			url: pathOf(auth),
			config: { auth },
			handler: async ({ caller }) => ({ project: caller?.id ?? null }),
		})
	app.get('/v1/probe', { config: { auth: 'secret key' } }, async () => 'read')
}

const pathOf = (auth: Auth) =>
	auth === 'session' ? '/users/@me' : `/probe/${auth.replaceAll(' ', '-')}`

const setupProbes = async (t: Parameters<typeof setup>[0]) => {
	const all = await setup(t)
	await all.app.register(probes)
	return all
}

test('each kind of key opens its own routes and no others', async (t) => {
	const { app, project, withPublicKey, withSecretKey } = await setupProbes(t)
	const opened = async (headers: Record<string, string>) => {
		const statuses = await Promise.all(
			kinds.map((auth) => app.inject({ url: pathOf(auth), headers })),
		)
		return kinds.filter((_, index) => {
			const { statusCode, json } = statuses[index]!
			if (statusCode === 401) return false
			t.is(statusCode, 200)
			return json<{ project: string | null }>().project === project.id
		})
	}
	t.deepEqual(await opened(withPublicKey), ['public key'])
	t.deepEqual(await opened(withSecretKey), ['secret key', 'secret key or session'])
	t.deepEqual(await opened({}), [])
})

test('every invalid key is 401 INVALID_API_KEY, with a suggestion', async (t) => {
	const { app } = await setupProbes(t)
	const { secretKey } = newKeys()
	for (const authorization of [
		undefined,
		'',
		'Basic dXNlcjpwYXNzd29yZA==',
		secretKey,
		'Bearer ',
		`Bearer ${secretKey} ${secretKey}`,
		`Bearer ${secretKey}`,
		'Bearer 0123456789abcdef',
		`Bearer sk_${keyDigest(secretKey).toString('hex')}`,
	]) {
		const response = await app.inject({
			url: pathOf('secret key'),
			headers: authorization === undefined ? {} : { authorization },
		})
		t.is(response.statusCode, 401, authorization)
		t.is(response.headers['www-authenticate'], 'Bearer')
		const { error } = response.json()
		t.is(error.code, 'INVALID_API_KEY')
		t.truthy(error.suggestion)
	}
})

test('the name of the scheme may be written in any case', async (t) => {
	const { app, secretKey } = await setupProbes(t)
	for (const scheme of ['bearer', 'BEARER', 'Bearer']) {
		const headers = { authorization: `${scheme} ${secretKey}` }
		t.is((await app.inject({ url: pathOf('secret key'), headers })).statusCode, 200)
	}
})

test('a key of the wrong kind is named as such', async (t) => {
	const { app, withPublicKey, withSecretKey } = await setupProbes(t)
	const refused = async (auth: Auth, headers: Record<string, string>) =>
		(await app.inject({ url: pathOf(auth), headers })).json().error
	t.regex((await refused('secret key', withPublicKey)).message, /does not accept a public key/)
	t.regex((await refused('public key', withSecretKey)).message, /does not accept a secret key/)
	t.is((await refused('session', withSecretKey)).code, 'INVALID_API_KEY')
	t.is((await refused('session', {})).code, 'UNAUTHORIZED')
})

test('regenerated keys replace the old ones with the very next request', async (t) => {
	const { app, orm, project, secretKey } = await setupProbes(t)
	const status = async (key: string) =>
		(
			await app.inject({
				url: pathOf('secret key'),
				headers: { authorization: `Bearer ${key}` },
			})
		).statusCode
	t.is(await status(secretKey), 200)
	const fresh = newKeys()
	await orm.em.fork().nativeUpdate(Project, { id: project.id }, fresh.columns)
	t.is(await status(secretKey), 401)
	t.is(await status(fresh.secretKey), 200)
})

test('the key is looked at before the body: malformed JSON with a bad key is 401', async (t) => {
	const { app, withSecretKey } = await setup(t)
	const post = (headers: Record<string, string>) =>
		app.inject({
			method: 'POST',
			url: '/v1/send',
			headers: { 'content-type': 'application/json', ...headers },
			payload: '{"to":',
		})
	t.is((await post({})).statusCode, 401)
	t.is((await post({ authorization: `Bearer ${newKeys().secretKey}` })).statusCode, 401)
	t.is((await post(withSecretKey)).statusCode, 400)
})

test('a disabled project reads, but neither writes nor uses /v1', async (t) => {
	const { app, orm } = await setupProbes(t)
	const { withSecretKey } = await createProject(orm, { disabledReason: 'EMAIL_REPUTATION' })
	const status = async (method: 'GET' | 'HEAD' | 'POST', url: string) =>
		(await app.inject({ method, url, headers: withSecretKey })).statusCode
	t.is(await status('GET', pathOf('secret key')), 200)
	t.is(await status('GET', '/emails'), 200)
	t.is(await status('HEAD', '/emails'), 200)
	t.is(await status('POST', pathOf('secret key')), 403)
	t.is(await status('GET', '/v1/probe'), 403)
	const response = await app.inject({ method: 'POST', url: '/v1/send', headers: withSecretKey })
	t.is(response.json().error.code, 'PROJECT_DISABLED')
	t.deepEqual(response.json().error.details, { reason: 'EMAIL_REPUTATION' })
})

test('a route without a declared access rule stops the start', async (t) => {
	const { app } = await setup(t)
	await t.throwsAsync(
		async () =>
			app.register(async (app) => {
				app.get('/open', async () => 'oops')
			}),
		{ message: /GET \/open does not say who may call it/ },
	)
})

test('a handler without a caller cannot read a project by mistake', async (t) => {
	const { app } = await setup(t)
	app.get('/mistake', { config: { auth: 'none' } }, async ({ project }) => project.id)
	t.is((await app.inject('/mistake')).statusCode, 500)
})
