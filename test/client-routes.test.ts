import { readFile } from 'node:fs/promises'
import test from 'ava'
import type { Document as ClientDocument } from '../client/generate/document.ts'
import { formatted } from '../client/generate/format.ts'
import { generate } from '../client/generate/generate.ts'
import { Tempost } from '../client/index.ts'
import { routes } from '../client/routes.ts'
import { setup } from './helpers/app.ts'
import { type Document, operationsOf } from './helpers/openapi.ts'

async function documentOf(t: Parameters<typeof setup>[0]) {
	const { app } = await setup(t)
	return (await app.inject('/openapi.json')).json<Document>()
}

test('the types and routes of the client are those of the document', async (t) => {
	const document = await documentOf(t)
	const files = Object.entries(generate(document as unknown as ClientDocument))
	t.deepEqual(
		files.map(([name]) => name),
		['api.ts', 'routes.ts'],
	)
	for (const [name, text] of files) {
		const committed = await readFile(new URL(`../client/${name}`, import.meta.url), 'utf8')
		t.true(formatted(name, text) === committed, `client/${name} is old: npm run client`)
	}
})

type Method = (...args: unknown[]) => Promise<unknown>

function methodNamed(tempost: Tempost, name: string) {
	const found = name
		.split('.')
		.reduce<unknown>((place, part) => (place as Record<string, unknown>)[part], tempost)
	return found as Method
}

/** Every method of the client by name, found by looking at the client itself. */
const methodsOf = (tempost: Tempost) =>
	Object.entries(tempost)
		.flatMap(([name, one]) =>
			typeof one === 'function' ? [name] : Object.keys(one).map((method) => `${name}.${method}`),
		)
		.filter((name) => name !== 'webhooks.verify')

/** Calls each method once and returns the requests that it made. */
async function requestsOf(document: Document) {
	const requests: Request[] = []
	let answer = ''
	const tempost = new Tempost({
		url: 'http://localhost:1',
		secretKey: 'sk',
		publicKey: 'pk',
		session: 'token',
		fetch: async (url, init) => {
			requests.push(new Request(url as string, init as RequestInit))
			return new Response(answer, { headers: { 'content-type': 'application/json' } })
		},
	})
	const operations = operationsOf(document)
	const called: { name: string; operation: (typeof operations)[number]; request: Request }[] = []
	for (const name of methodsOf(tempost)) {
		const [method, path, ...words] = routes[name]!.split(' ')
		answer = words.includes('array') ? '[]' : '{"data":[]}'
		const operation = operations.find((one) => one.name === `${method} ${path}`)!
		const { parameters = [], requestBody } = operation.operation
		const ids = parameters.filter((one) => one.in === 'path').map((one) => `the/${one.name}`)
		const query = parameters.filter((one) => one.in === 'query').map((one) => [one.name, '1'])
		const isRaw = 'message/rfc822' in (requestBody?.content ?? {})
		const inputs = requestBody
			? [isRaw ? 'raw' : { file: 'a' }]
			: query.length > 0
				? [Object.fromEntries(query)]
				: []
		await methodNamed(tempost, name)(...ids, ...inputs, { headers: { 'x-last': 'options' } })
		called.push({ name, operation, request: requests.at(-1)! })
	}
	return { called, operations }
}

test('every operation has one method, whose arguments are its ids, its input and options', async (t) => {
	const { called, operations } = await requestsOf(await documentOf(t))
	t.deepEqual(
		called.map(({ operation }) => operation.name).toSorted(),
		operations.map(({ name }) => name).toSorted(),
	)
	for (const { name, operation, request } of called) {
		const { parameters = [], requestBody } = operation.operation
		const { pathname, searchParams } = new URL(request.url)
		t.is(request.method, operation.method.toUpperCase(), name)
		t.is(
			pathname,
			operation.path.replaceAll(/\{(\w+)\}/g, (_, id) => `the%2F${id}`),
			name,
		)
		const query = parameters.filter((one) => one.in === 'query').map((one) => one.name)
		t.deepEqual([...searchParams.keys()], query, name)
		const type = request.headers.get('content-type')?.split(';')[0]
		t.is(type, requestBody && Object.keys(requestBody.content)[0], name)
		t.is(request.headers.get('x-last'), 'options', name)
	}
})

test('every method sends the credential that its route takes, and a key where one is taken', async (t) => {
	const { called } = await requestsOf(await documentOf(t))
	const sent: Record<string, string | null> = {
		'secret key': 'Bearer sk',
		'public key': 'Bearer pk',
		'secret key or session': 'Bearer sk',
	}
	for (const { name, operation, request } of called) {
		const { parameters = [], 'x-auth': auth } = operation.operation
		t.is(request.headers.get('authorization'), sent[auth] ?? null, name)
		const takesKey = parameters.some((one) => one.name === 'Idempotency-Key')
		t.is(request.headers.has('idempotency-key'), takesKey, name)
	}
})

test('the text above each method names its route', async (t) => {
	const types = await readFile(new URL('../client/api.ts', import.meta.url), 'utf8')
	for (const [name, line] of Object.entries(routes)) {
		const [method, path] = line.split(' ')
		const text = `\`${method} ${path}\`\n\t */\n\t${name.split('.').at(-1)}(`
		t.is(types.split(text).length, 2, name)
	}
})
