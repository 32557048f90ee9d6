import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { InjectOptions } from 'fastify'
import { Domain } from '../db/domain.ts'
import { createProject, setup } from './helpers/app.ts'
import { addMember, createUser } from './helpers/people.ts'
import { exampleOf, type JsonSchema, wrongFor } from './helpers/schema-values.ts'

// Every route of the document, sent what it must not take. What is expected follows from the document
// and from the few rules that the interface makes for single routes; they stand here as tables.

interface Parameter {
	in: 'path' | 'query' | 'header'
	name: string
	schema: JsonSchema & { 'x-resource'?: string }
}
interface Operation {
	'x-auth': string
	parameters?: Parameter[]
	requestBody?: { content: Record<string, { schema: JsonSchema }> }
}
interface Route {
	name: string
	method: NonNullable<InjectOptions['method']>
	path: string
	operation: Operation
	ids: Parameter[]
	body: JsonSchema | undefined
}

const missing = randomUUID()
/** Bodies that are right although their schema alone does not make them so. */
const bodies: Record<string, object> = {
	'POST /segments': { name: 'S', type: 'STATIC' },
	'POST /segments/{id}/members': { emails: ['a@example.org'] },
	'POST /workflows': { name: 'W', eventName: 'signed up' },
	'POST /workflows/{id}/steps': { name: 'S', type: 'EXIT' },
	'POST /templates': { name: 'T', subject: 'S', body: 'B', from: 'me@example.com' },
	'POST /campaigns': {
		name: 'C',
		subject: 'S',
		body: 'B',
		from: 'me@example.com',
		audienceType: 'ALL',
	},
	'POST /v1/send': { to: 'a@example.org', subject: 'S', body: 'B', from: 'me@example.com' },
	'POST /domains': { domain: 'example.net' },
}
for (const operation of ['subscribe', 'unsubscribe', 'delete'])
	bodies[`POST /contacts/bulk-${operation}`] = { contactIds: [missing] }

/** Refused with the simple `{ error }` of the interface: these members, missing or of the wrong type. */
const simple: Record<string, { missing: string[]; wrong: string[] }> = {
	'POST /contacts': { missing: ['email'], wrong: [] },
	'POST /templates': {
		missing: ['name', 'subject', 'body', 'from'],
		wrong: ['name', 'subject', 'body', 'from'],
	},
	'POST /segments': { missing: ['name'], wrong: ['name'] },
}
/** An unknown status of campaigns is a 400, as everywhere; these lists fall back instead. */
const forgiving = /^GET \/contacts$/
/** No JSON comes to these: files, and messages that are taken as they are. */
const rawBodies = /^POST \/(uploads\/image|contacts\/import|webhooks\/)/
const codes: Record<string, string> = {
	contact: 'CONTACT_NOT_FOUND',
	template: 'TEMPLATE_NOT_FOUND',
	campaign: 'CAMPAIGN_NOT_FOUND',
	workflow: 'WORKFLOW_NOT_FOUND',
}

/** Two projects that have one of everything; calls are made for the first. */
async function setupRoutes(t: ExecutionContext) {
	const context = await setup(t)
	const { app, orm } = context
	const { paths } = (await app.inject('/openapi.json')).json() as {
		paths: Record<string, Record<string, Operation>>
	}
	const routes = Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]): Route => {
			const name = `${method.toUpperCase()} ${path}`
			return {
				name,
				path,
				operation,
				method: method.toUpperCase() as Route['method'],
				ids: (operation.parameters ?? []).filter(
					(parameter) => parameter.in === 'path' && parameter.schema['x-resource'],
				),
				body: rawBodies.test(name)
					? undefined
					: operation.requestBody?.content['application/json']?.schema,
			}
		}),
	)
	const owner = await createUser(app, orm, 'owner@example.net')
	const mine = await furnish(context)
	const other = await createProject(orm)
	const theirs = await furnish({ ...context, ...other })
	await addMember(orm, context.project, owner.user, 'OWNER')
	const stranger = await createUser(app, orm, 'stranger@example.net')
	await addMember(orm, other.project, stranger.user, 'OWNER')
	Object.assign(mine, { project: context.project.id, member: owner.user.id })
	Object.assign(theirs, { project: other.project.id, member: stranger.user.id })

	function headersFor({ operation }: Route) {
		if (operation['x-auth'] === 'public key') return context.withPublicKey
		if (operation['x-auth'] === 'session') return owner.headers
		return context.withSecretKey
	}
	const urlOf = ({ path, operation }: Route, ids: Record<string, string>) =>
		path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
			const { schema } = operation.parameters!.find((one) => one.name === name)!
			return encodeURIComponent(
				ids[schema['x-resource'] ?? path.split('/')[1]!.replace(/s$/, '')] ?? 'anything',
			)
		})
	const valid = (route: Route) =>
		bodies[route.name] ?? (route.body && (exampleOf(route.body) as object)) ?? undefined

	async function call(
		route: Route,
		{ ids = mine, body = valid(route), headers = headersFor(route) as object, query = '' } = {},
	) {
		const answer = await app.inject({
			method: route.method,
			url: `${urlOf(route, ids)}${query}`,
			headers: { ...headers },
			...(body === undefined ? {} : { payload: body }),
		})
		return { status: answer.statusCode, said: said(answer.body) }
	}
	const problems: string[] = []
	const expect = (what: string, isRight: boolean, got: unknown) => {
		if (!isRight) problems.push(`${what}: ${JSON.stringify(got).slice(0, 300)}`)
	}
	return {
		...context,
		call,
		expect,
		headersFor,
		problems,
		mine,
		theirs,
		valid,
		routes,
		secured: routes.filter(({ operation }) => !['none', 'signature'].includes(operation['x-auth'])),
	}
}

interface Said {
	code?: string
	errors: { field: string; code: string }[]
	details?: { resource?: string }
	/** The simple body. */
	text?: string
}

function said(body: string): Said {
	let parsed: { error?: string | Said } = {}
	try {
		parsed = JSON.parse(body) as typeof parsed
	} catch {
		return { errors: [] }
	}
	if (typeof parsed.error === 'string') return { errors: [], text: parsed.error }
	return { errors: [], ...parsed.error }
}

type Furnished = Pick<
	Awaited<ReturnType<typeof setup>>,
	'app' | 'orm' | 'pool' | 'project' | 'withSecretKey'
>

/** One of everything that a path can name, by the name of its resource. */
async function furnish({ app, orm, pool, project, withSecretKey: headers }: Furnished) {
	const post = async (url: string, payload: object) => {
		const answer = await app.inject({ method: 'POST', url, headers, payload })
		if (answer.statusCode >= 300) throw new Error(`${url}: ${answer.body}`)
		const body = answer.json()
		return (body.success ? body.data : body) as {
			id: string
			jobId: string
			emails: { email: string }[]
		}
	}
	const em = orm.em.fork()
	const name = `${project.id}.example`
	const domain = em.create(Domain, { projectId: project.id, domain: name, verifiedAt: new Date() })
	await em.flush()
	const from = `me@${name}`
	const contact = (await post('/contacts', { email: 'one@example.org' })).id
	const template = (await post('/templates', { ...bodies['POST /templates'], from })).id
	const campaign = (await post('/campaigns', { ...bodies['POST /campaigns'], from })).id
	const segment = (await post('/segments', bodies['POST /segments']!)).id
	const workflow = (await post('/workflows', bodies['POST /workflows']!)).id
	const step = (await post(`/workflows/${workflow}/steps`, { name: 'S', type: 'EXIT' })).id
	const { rows: transitions } = await pool.query(
		'select id from automation_transitions where project_id = $1',
		[project.id],
	)
	const enabled = await app.inject({
		method: 'PATCH',
		url: `/workflows/${workflow}`,
		headers,
		payload: { enabled: true },
	})
	if (enabled.statusCode !== 200) throw new Error(enabled.body)
	const execution = (await post(`/workflows/${workflow}/executions`, { contactId: contact })).id
	const mail = await post('/v1/send', { ...bodies['POST /v1/send'], from })
	const job = (await post('/contacts/bulk-subscribe', { contactIds: [contact] })).jobId
	const ids: Record<string, string> = {
		contact,
		template,
		campaign,
		segment,
		workflow,
		step,
		transition: transitions[0].id,
		version: '1',
		execution,
		job,
		email: mail.emails[0]!.email,
		domain: domain.id,
	}
	return ids
}

test('without a key, and with a key of the wrong kind or of nobody, each route refuses', async (t) => {
	const { call, expect, problems, secured, withPublicKey, withSecretKey } = await setupRoutes(t)
	const nobody = { authorization: `Bearer sk_${'0'.repeat(64)}` }
	for (const route of secured) {
		const isSession = route.operation['x-auth'] === 'session'
		const wrong = route.operation['x-auth'] === 'public key' ? withSecretKey : withPublicKey
		const bare = await call(route, { headers: {} })
		const code = isSession ? 'UNAUTHORIZED' : 'INVALID_API_KEY'
		expect(`${route.name} without a key`, bare.status === 401 && bare.said.code === code, bare)
		for (const headers of [wrong, nobody]) {
			const got = await call(route, { headers })
			const isRight = got.status === 401 && got.said.code === 'INVALID_API_KEY'
			expect(`${route.name} with another key`, isRight, got)
		}
	}
	t.deepEqual(problems, [])
})

test("an id of nobody's, of another project's, or that is none is the 404 of its resource", async (t) => {
	const { call, expect, mine, problems, secured, theirs } = await setupRoutes(t)
	for (const route of secured)
		for (const parameter of route.ids) {
			const resource = parameter.schema['x-resource']!
			const isNumber = resource === 'version'
			const others = [isNumber ? '999' : missing, ...(isNumber ? [] : [theirs[resource]!])]
			for (const id of [...others, 'no-id']) {
				const got = await call(route, { ids: { ...mine, [resource]: id } })
				const isRight =
					got.status === 404 &&
					got.said.code === (codes[resource] ?? 'RESOURCE_NOT_FOUND') &&
					got.said.details?.resource === resource
				const isTyped =
					id === 'no-id' && route.name === 'POST /campaigns/{id}/send' && got.status === 422
				expect(`${route.name} with the ${resource} ${id}`, isRight || isTyped, got)
			}
		}
	t.deepEqual(problems, [])
})

test('a member of the wrong type is a 422 that names it', async (t) => {
	const { call, expect, problems, routes, valid } = await setupRoutes(t)
	for (const route of routes)
		for (const [name, schema] of Object.entries(route.body?.properties ?? {})) {
			const wrong = wrongFor(schema)
			if (wrong === undefined) continue
			const got = await call(route, { body: { ...valid(route), [name]: wrong } })
			const isSimple = simple[route.name]?.wrong.includes(name)
			const isRight = isSimple
				? got.status === 400 && got.said.text !== undefined
				: got.status === 422 && got.said.code === 'VALIDATION_ERROR' && names(got.said, name)
			expect(`${route.name} ${name}: ${JSON.stringify(wrong)}`, isRight, got)
		}
	t.deepEqual(problems, [])
})

test('a member that is missing is a 422 that names it as required', async (t) => {
	const { call, expect, problems, routes, valid } = await setupRoutes(t)
	for (const route of routes)
		for (const name of route.body?.required ?? []) {
			if (route.body!.properties![name]!.default !== undefined) continue
			const { [name]: _, ...body } = valid(route) as Record<string, unknown>
			const got = await call(route, { body })
			const isRight = simple[route.name]?.missing.includes(name)
				? got.status === 400 && got.said.text !== undefined
				: got.status === 422 &&
					got.said.errors.some(({ field, code }) => field === name && code === 'required')
			expect(`${route.name} without ${name}`, isRight, got)
		}
	t.deepEqual(problems, [])
})

test('a text that is too long is a 422 that says so', async (t) => {
	const { call, expect, problems, routes, valid } = await setupRoutes(t)
	for (const route of routes)
		for (const [name, schema] of Object.entries(route.body?.properties ?? {})) {
			const isEmail = schema.format === 'email'
			const maxLength = schema.maxLength ?? schema.anyOf?.find((one) => one.maxLength)?.maxLength
			if (!maxLength && !isEmail) continue
			const long = isEmail ? `${'a'.repeat(250)}@example.org` : 'x'.repeat(maxLength! + 1)
			const got = await call(route, { body: { ...valid(route), [name]: long } })
			const isRight =
				got.status === 422 &&
				(isEmail
					? names(got.said, name)
					: got.said.errors.some(({ field, code }) => field === name && code === 'too_big'))
			expect(`${route.name} ${name} of ${long.length}`, isRight, got)
		}
	t.deepEqual(problems, [])
})

test('a query that cannot be meant is a 400 that names it', async (t) => {
	const { call, expect, problems, routes } = await setupRoutes(t)
	for (const route of routes)
		for (const { in: place, name, schema } of route.operation.parameters ?? []) {
			const isFree = !schema.enum && schema.format !== 'uuid' && schema.type !== 'integer'
			if (place !== 'query' || isFree || forgiving.test(route.name)) continue
			if (route.path.startsWith('/mailbox')) continue
			const got = await call(route, { query: `?${name}=no-such-thing` })
			const isRight = got.status === 400 && got.said.code === 'BAD_REQUEST' && names(got.said, name)
			expect(`${route.name}?${name}=no-such-thing`, isRight, got)
		}
	t.deepEqual(problems, [])
})

test('what is no JSON, or no JSON object, is told so by each route that takes one', async (t) => {
	const { call, expect, headersFor, problems, routes } = await setupRoutes(t)
	const texts = { '{"a":': 400, '[]': 422, '"x"': 422, null: 422 }
	for (const route of routes.filter(({ body, name }) => body && !simple[name]))
		for (const [text, status] of Object.entries(texts)) {
			const headers = { ...headersFor(route), 'content-type': 'application/json' }
			const got = await call(route, { body: text as never, headers })
			const isRight = got.status === status && got.said.code === 'VALIDATION_ERROR'
			expect(`${route.name} with ${text}`, isRight, got)
		}
	t.deepEqual(problems, [])
})

const names = ({ errors }: Said, name: string) =>
	errors.some(({ field }) => field === name || field.startsWith(`${name}.`))
