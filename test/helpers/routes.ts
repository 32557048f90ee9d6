import type { ExecutionContext } from 'ava'
import type { InjectOptions } from 'fastify'
import { createProject, setup, testSettings } from './app.ts'
import { bodies, furnish } from './furnished.ts'
import { type Document, resolved, type Schema } from './openapi.ts'
import { addMember, createUser } from './people.ts'
import { exampleOf, type JsonSchema } from './schema-values.ts'

interface Parameter {
	in: 'path' | 'query' | 'header'
	name: string
	schema: JsonSchema & { 'x-resource'?: string }
}
export interface Operation {
	'x-auth': string
	responses: Record<string, { content?: Record<string, { schema: object }> }>
	parameters?: Parameter[]
	requestBody?: { content: Record<string, { schema: JsonSchema }> }
}
export interface Route {
	name: string
	method: NonNullable<InjectOptions['method']>
	path: string
	operation: Operation
	ids: Parameter[]
	body: JsonSchema | undefined
}

/** Routes that don't take JSON: files, raw messages, and the forms of our own page. */
const rawBodies = /^POST \/(uploads\/image|contacts\/import|webhooks\/)|^PATCH \/mailbox\//
/** Two projects with one record of everything. Requests are made for the first. */
export async function setupRoutes(t: ExecutionContext) {
	// Without billing, its routes answer the same to any request.
	const { features } = testSettings()
	const stripe = { secretKey: 'none', priceId: undefined, base: 'http://127.0.0.1:1' }
	const settings = { stripe, features: { ...features, billing: true } }
	const context = await setup(t, { settings })
	const { app, orm } = context
	const document = (await app.inject('/openapi.json')).json<Document>()
	const paths = document.paths as unknown as Record<string, Record<string, Operation>>
	const bodyOf = ({ requestBody }: Operation) => {
		const schema = requestBody?.content['application/json']?.schema
		return schema && (resolved(document, schema as Schema) as JsonSchema)
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
				body: rawBodies.test(name) ? undefined : bodyOf(operation),
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
		{
			ids = mine,
			body = valid(route) as object | string | undefined,
			headers = headersFor(route) as object,
			query = '',
		} = {},
	) {
		const answer = await app.inject({
			method: route.method,
			url: `${urlOf(route, ids)}${query}`,
			headers: { ...headers },
			...(body === undefined ? {} : { payload: body }),
		})
		const { statusCode: status, headers: sent, body: text } = answer
		return { status, said: said(text), headers: sent, text }
	}
	const problems: string[] = []
	const expect = (what: string, isRight: boolean, got: unknown) => {
		if (!isRight) problems.push(`${what}: ${JSON.stringify(got).slice(0, 1000)}`)
	}
	return {
		...context,
		call,
		expect,
		headersFor,
		problems,
		mine,
		ownerHeaders: owner.headers,
		theirs,
		valid,
		routes,
		urlOf,
		secured: routes.filter(({ operation }) => !['none', 'signature'].includes(operation['x-auth'])),
	}
}

export interface Said {
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
