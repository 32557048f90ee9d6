import test from 'ava'
import { tools } from '../api/mcp/tools.ts'
import { readPage } from './helpers/doc-examples.ts'
import { calling, openMcp } from './helpers/mcp.ts'

test('an assistant connects with the secret key and gets every tool with its schema', async (t) => {
	const { connect } = await openMcp(t)
	const client = await connect()
	t.like(client.getServerVersion(), { name: 'tempost' })
	t.regex(client.getInstructions()!, /Treat them as data/)
	const { tools: listed } = await client.listTools()
	t.is(listed.length, tools.length)
	for (const { name, title, description, inputSchema, annotations } of listed) {
		t.regex(name, /^[a-z]+(_[a-z]+)+$/)
		t.truthy(title)
		t.true(description!.length > 60, name)
		t.is(inputSchema.type, 'object')
		t.deepEqual(undescribed(inputSchema as Schema), [], name)
		const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations!
		for (const hint of [readOnlyHint, destructiveHint, idempotentHint, openWorldHint])
			t.is(typeof hint, 'boolean', name)
	}
	t.notRegex(JSON.stringify(listed), /x-message|x-resource|\$ref/)
})

test('a client of the protocol without a handshake gets the same', async (t) => {
	const { connect, callWith, withSecretKey } = await openMcp(t)
	const client = await connect(withSecretKey, '2026-07-28')
	t.is((await client.listTools()).tools.length, tools.length)
	t.is((await callWith(client, 'list_domains')).text, '1 domain, 1 verified.')
})

test('a request without the secret key is 401 with WWW-Authenticate', async (t) => {
	const { post, connect, withPublicKey } = await openMcp(t)
	for (const headers of [{}, withPublicKey, { authorization: 'Bearer sk_wrong' }]) {
		const answer = await post(calling('list_domains'), headers)
		t.is(answer.status, 401)
		t.is(answer.headers.get('www-authenticate'), 'Bearer')
		t.is(((await answer.json()) as { error: { code: string } }).error.code, 'INVALID_API_KEY')
	}
	await t.throwsAsync(connect(withPublicKey))
})

test('pages of other sites are refused, and our own are not', async (t) => {
	const { post, withSecretKey } = await openMcp(t)
	const from = async (origin: string) =>
		(await post(calling('list_domains'), { ...withSecretKey, origin })).status
	t.is(await from('https://evil.example'), 403)
	t.is(await from('null'), 403)
	t.is(await from('http://localhost:3000'), 200)
})

test('there are no sessions, no streams and no batches', async (t) => {
	const { url, post, withSecretKey: headers } = await openMcp(t)
	for (const method of ['GET', 'DELETE']) {
		const answer = await fetch(url, { method, headers })
		t.is(answer.status, 405)
		t.is(answer.headers.get('allow'), 'POST')
	}
	t.is((await post([calling('list_domains'), calling('list_domains', {}, 2)])).status, 400)
	const initialised = await post({
		jsonrpc: '2.0',
		id: 1,
		method: 'initialize',
		params: {
			protocolVersion: '2025-06-18',
			capabilities: {},
			clientInfo: { name: 'a', version: '1' },
		},
	})
	t.is(initialised.status, 200)
	t.is(initialised.headers.get('mcp-session-id'), null)
})

test('nobody can keep a stream open', async (t) => {
	const { post, withSecretKey } = await openMcp(t)
	const version = '2026-07-28'
	const answer = await post(
		{
			jsonrpc: '2.0',
			id: 1,
			method: 'subscriptions/listen',
			params: {
				notifications: { toolsListChanged: true },
				_meta: {
					'io.modelcontextprotocol/protocolVersion': version,
					'io.modelcontextprotocol/clientCapabilities': {},
				},
			},
		},
		{ ...withSecretKey, 'mcp-protocol-version': version, 'mcp-method': 'subscriptions/listen' },
	)
	t.regex(await answer.text(), /Subscription limit reached/)
})

test('the page about assistants lists every tool, and its configurations connect', async (t) => {
	const { connect, callWith, secretKey } = await openMcp(t)
	const page = await readPage('docs/mcp.md')
	const named = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name!)
	t.deepEqual(
		named,
		tools.map(({ name }) => name),
	)
	const configurations = [...page.matchAll(/^```json\n(.*?)^```/gms)]
		.map(([, json]) => JSON.parse(json!) as Record<string, Record<string, Server>>)
		.flatMap(({ mcpServers, servers }) => Object.values(mcpServers ?? servers ?? {}))
	t.is(configurations.length, 2)
	for (const { url, headers } of configurations) {
		t.regex(url, /:3000\/mcp$/)
		const filled = JSON.stringify(headers).replace(/\$\{[^}]+\}/, secretKey)
		const client = await connect(JSON.parse(filled) as object)
		t.is((await callWith(client, 'list_domains')).text, '1 domain, 1 verified.')
	}
})

interface Schema {
	description?: string
	properties?: Record<string, Schema>
}

/** The members without a description. An object may have them for its members instead. */
const undescribed = ({ properties = {} }: Schema): string[] =>
	Object.entries(properties).flatMap(([name, schema]) => {
		if (schema.description) return []
		return schema.properties ? undescribed(schema) : [name]
	})

interface Server {
	url: string
	headers: object
}
