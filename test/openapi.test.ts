import test from 'ava'
import { readFile } from 'node:fs/promises'
import { operationIds } from '../api/docs/operation-ids.ts'
import { authKinds } from '../api/requests/auth.ts'
import { setup } from './helpers/app.ts'
import { type Document, operationsOf } from './helpers/openapi.ts'

const json = async (name: string) =>
	JSON.parse(await readFile(new URL(name, import.meta.url), 'utf8')) as unknown

/** Our own pages and the local mailbox are not part of the interface. */
const ownPages =
	/^GET \/auth\/(\{\}(\/callback)?|verify-email|reset-password|accept-invitation)$|^[A-Z]+ \/mailbox(\/|$)|^GET \/uploads\//

async function document(t: Parameters<typeof setup>[0]) {
	const { app, secretKey } = await setup(t, { settings: { rateLimitPerMinute: 100 } })
	const response = await app.inject('/openapi.json')
	const document = response.json<Document>()
	return { document, operations: operationsOf(document), app, secretKey }
}

const nameOf = (method: string, path: string) =>
	`${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`

test('every route of the list is there with its kind of key, and no other', async (t) => {
	const { operations } = await document(t)
	const built = operations.map(
		({ method, path, operation }) => `${nameOf(method, path)}: ${operation['x-auth']}`,
	)
	const routes = (await json('routes.json')) as { method: string; path: string; auth: string }[]
	const wanted = routes.map(({ method, path, auth }) => `${nameOf(method, path)}: ${auth}`)
	t.deepEqual(
		wanted.filter((route) => !built.includes(route)),
		[],
	)
	t.deepEqual(
		built.filter((route) => !wanted.includes(route) && !ownPages.test(route.split(':', 1)[0]!)),
		[],
	)
})

test('every route documents its purpose and its access rule', async (t) => {
	const { operations } = await document(t)
	t.true(operations.length > 0)
	for (const { path, method, operation } of operations) {
		const name = nameOf(method, path)
		t.truthy(operation.summary, name)
		t.true((authKinds as readonly string[]).includes(operation['x-auth']), name)
		const isOpen = operation['x-auth'] === 'none' || operation['x-auth'] === 'signature'
		t.is(operation.security?.length === 0, isOpen, name)
	}
})

test('routes that act only on the version that was read declare If-Match, and that they may refuse', async (t) => {
	const { operations } = await document(t)
	const found = operations.filter(({ operation: { parameters = [] } }) =>
		parameters.some((one) => one.in === 'header' && one.name === 'If-Match'),
	)
	t.deepEqual(found.map(({ method, path }) => nameOf(method, path)).toSorted(), [
		'PATCH /templates/{}',
		'POST /campaigns/{}/send',
		'PUT /campaigns/{}',
		'PUT /workflows/{}/graph',
	])
	for (const { operation } of found) t.truthy(operation.responses['409'])
})

test('every route has a name of its own for generated clients, and every name a route', async (t) => {
	const { operations } = await document(t)
	const named = operations.map(({ path, method, operation }) => [
		`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
		operation.operationId,
	])
	for (const [route, name] of named) t.regex(name ?? '', /^[a-z]+[a-zA-Z]*$/, route)
	t.is(new Set(named.map(([, name]) => name)).size, named.length)
	const routes = named.map(([route]) => route)
	t.deepEqual(
		Object.keys(operationIds).filter((route) => !routes.includes(route)),
		[],
	)
})

test('a member with a default may be left out of a request', async (t) => {
	const { operations } = await document(t)
	const { parameters = [] } = operations.find(
		({ path, method }) => path === '/templates' && method === 'get',
	)!.operation
	const required = parameters.filter((parameter) => parameter.required)
	t.deepEqual(required, [])
	t.true(parameters.length > 5)
})

test('the document is sound: references lead somewhere, paths name their parameters', async (t) => {
	const { document: doc, operations } = await document(t)
	t.regex(doc.openapi, /^3\.1\.\d$/)
	t.truthy(doc.info.title && doc.info.version)
	const references = [...JSON.stringify(doc).matchAll(/"\$ref":"(.*?)"/g)].map(([, ref]) => ref!)
	t.true(references.includes('#/components/schemas/ErrorResponse'))
	for (const reference of new Set(references)) {
		let target: unknown = doc
		for (const part of reference.split('/').slice(1))
			target = (target as Record<string, unknown> | undefined)?.[part]
		t.truthy(target, reference)
	}
	const schemes = Object.keys(doc.components['securitySchemes']!)
	for (const { path, method, operation } of operations) {
		const name = nameOf(method, path)
		const inPath = [...path.matchAll(/\{(.*?)\}/g)].map(([, parameter]) => parameter!)
		const declared = operation.parameters?.filter((p) => p.in === 'path').map((p) => p.name) ?? []
		t.deepEqual(new Set(declared), new Set(inPath), name)
		t.true(Object.keys(operation.responses).length > 0, name)
		for (const scheme of operation.security?.flatMap(Object.keys) ?? [])
			t.true(schemes.includes(scheme), name)
	}
})

test('every group of routes is described, and none is empty', async (t) => {
	const { document: doc, operations } = await document(t)
	const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? ['(none)']))
	t.deepEqual(doc.tags.map(({ name }) => name).toSorted(), [...used].toSorted())
	for (const { name, description } of doc.tags) t.truthy(description, name)
})

test('errors are described once and referred to', async (t) => {
	const { document: doc } = await document(t)
	const { responses } = doc.paths['/v1/send']!['post']!
	t.is(
		Object.keys(responses).toSorted().join(' '),
		'200 400 401 403 404 408 409 413 415 422 429 500 503',
	)
	t.regex(JSON.stringify(responses['422']), /"\$ref":"#\/components\/schemas\/ErrorResponse"/)
})

test('the headers of an answer match the document', async (t) => {
	const { document: doc, app, secretKey } = await document(t)
	const known = Object.keys(doc.components['headers']!)
	const kept = { authorization: `Bearer ${secretKey}` }
	for (const [path, headers] of [
		['/templates', kept],
		['/templates', {}],
		['/templates/none', kept],
		['/health', {}],
	] as const) {
		const answer = await app.inject({ url: path, headers })
		const documented = doc.paths[path.replace('none', '{id}')]!['get']!.responses
		const named = documented[answer.statusCode]!.headers
		t.deepEqual(
			known.filter((name) => name.toLowerCase() in answer.headers),
			Object.keys(named),
			`${path} ${answer.statusCode}`,
		)
	}
	for (const status of [429, 503])
		t.true('Retry-After' in doc.paths['/v1/send']!['post']!.responses[status]!.headers)
})

test('the page of the documentation opens', async (t) => {
	const { app } = await setup(t)
	const page = await app.inject('/docs')
	t.is(page.statusCode, 200)
	t.regex(page.body, /swagger-ui/)
	const script = await app.inject('/docs/static/swagger-initializer.js')
	t.is(script.statusCode, 200)
})
