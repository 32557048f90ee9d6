import test from 'ava'
import type { HTTPMethods } from 'fastify'
import { rolesOfRoutes } from '../api/requests/roles.ts'
import type { Project } from '../db/projects/project.ts'
import { createProject, setup } from './helpers/app.ts'
import { addMember, createUser } from './helpers/people.ts'

const roles = ['MEMBER', 'ADMIN', 'OWNER'] as const
type Role = (typeof roles)[number]

/** The specification's rules about roles, independent of our table. */
function neededFor(route: string): 'USER' | Role {
	if (/^(GET|POST) \/users\/@me(\/projects)?$|^POST \/auth\/request-verification$/.test(route))
		return 'USER'
	if (/^DELETE \/users\/@me\/projects\/\{id\}$|\/system$/.test(route)) return 'OWNER'
	const forAdmins = [
		/^PATCH \/users\/@me\/projects\/\{id\}$/,
		/\/(regenerate-keys|reset|checkout|billing-[a-z]+)$/,
		/^(POST|PATCH|DELETE) \/projects\/\{id\}\/(members|invitations)/,
		/\/(webhook-secret|audit)$/,
		/^(POST|DELETE) \/domains/,
		/^(POST|PATCH|DELETE) \/webhook-(endpoints|deliveries)/,
	]
	return forAdmins.some((pattern) => pattern.test(route)) ? 'ADMIN' : 'MEMBER'
}

interface Operation {
	'x-auth': string
	requestBody?: object
}

interface Answer {
	statusCode: number
	code: string | undefined
	resource: string | undefined
}

/** undefined: the role is sufficient, whatever the route itself answers. */
function refusalOf({ statusCode, code, resource }: Answer) {
	if (statusCode === 401 || statusCode === 403) return `${statusCode} ${code}`
	if (statusCode === 404 && resource === 'project') return '404 project'
	return undefined
}

const invalidKey = '401 INVALID_API_KEY'

function expected(auth: string, route: string, who: string): string | undefined {
	const isSession = [...roles, 'stranger'].includes(who as Role)
	if (auth === 'none' || auth === 'signature') return undefined
	if (auth === 'public key' || auth === 'secret key') return who === auth ? undefined : invalidKey
	if (auth === 'session') {
		if (who === 'nobody') return '401 UNAUTHORIZED'
		if (!isSession) return invalidKey
	} else if (!isSession) return who === 'secret key' ? undefined : invalidKey
	const needed = neededFor(route)
	if (needed === 'USER') return undefined
	if (who === 'stranger') return auth === 'session' ? '404 project' : '403 PROJECT_ACCESS_DENIED'
	const suffices = roles.indexOf(who as Role) >= roles.indexOf(needed)
	return suffices ? undefined : '403 FORBIDDEN'
}

test('every route is open to exactly its declared callers', async (t) => {
	const { app, orm } = await setup(t)
	const people = Object.fromEntries(
		await Promise.all(
			[...roles, 'stranger'].map(
				async (name) =>
					[name, await createUser(app, orm, `${name.toLowerCase()}@example.org`)] as const,
			),
		),
	)
	/** A project for each visit, because some routes destroy it. */
	async function freshProject() {
		const created = await createProject(orm)
		for (const role of roles) await addMember(orm, created.project, people[role]!.user, role)
		return created
	}
	let shared = await freshProject()

	async function visit(method: string, path: string, operation: Operation, who: string) {
		const isOfProject = /^\/(users\/@me\/)?projects\/\{id\}/.test(path)
		if (isOfProject) shared = await freshProject()
		const { project, withPublicKey, withSecretKey } = shared
		const url = path
			.replace('{id}', isOfProject ? project.id : crypto.randomUUID())
			.replace('{projectId}', project.id)
			.replaceAll(/\{\w+\}/g, () => crypto.randomUUID())
		const keys: Record<string, object> = {
			nobody: {},
			'public key': withPublicKey,
			'secret key': withSecretKey,
		}
		const headers = keys[who] ?? sessionOf(people[who]!.headers, project)
		const answer = await app.inject({
			method: method.toUpperCase() as HTTPMethods as 'POST',
			url,
			headers: headers as Record<string, string>,
			// A body that no route accepts, so an allowed request is refused later and changes nothing.
			...(operation.requestBody || method === 'post' ? { payload: [] } : {}),
		})
		const isJson = String(answer.headers['content-type']).startsWith('application/json')
		const { error } = isJson && answer.body ? answer.json() : { error: undefined }
		return {
			statusCode: answer.statusCode,
			code: error?.code as string | undefined,
			resource: error?.details?.resource as string | undefined,
		}
	}

	const { paths } = (await app.inject('/openapi.json')).json<{
		paths: Record<string, Record<string, Operation>>
	}>()
	let visits = 0
	for (const [path, methods] of Object.entries(paths))
		for (const [method, operation] of Object.entries(methods)) {
			const auth = operation['x-auth']
			if (auth === 'none' || auth === 'signature') continue
			const route = `${method.toUpperCase()} ${path}`
			for (const who of ['nobody', 'public key', 'secret key', 'stranger', ...roles]) {
				const answer = await visit(method, path, operation, who)
				t.true(answer.statusCode < 500, `${route} as ${who}: ${answer.statusCode}`)
				t.is(refusalOf(answer), expected(auth, route, who), `${route} as ${who}`)
				visits++
			}
		}
	t.true(visits > 500, `${visits}`)
})

const sessionOf = (headers: Record<string, string>, { id }: Project) => ({
	...headers,
	'x-project-id': id,
})

test('the table of roles names only routes that there are', async (t) => {
	const { app } = await setup(t)
	const { paths } = (await app.inject('/openapi.json')).json<{ paths: Record<string, object> }>()
	const built = Object.entries(paths).flatMap(([path, methods]) =>
		Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
	)
	for (const route of Object.keys(rolesOfRoutes))
		t.true(built.includes(route.replaceAll(/:(\w+)/g, '{$1}')), route)
})
