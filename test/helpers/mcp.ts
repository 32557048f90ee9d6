import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ExecutionContext } from 'ava'
import { openCampaigns } from './campaigns.ts'

interface Called {
	isError: boolean
	text: string
	// Each test knows the data of the tools that it calls.
	// oxlint-disable-next-line typescript/no-explicit-any
	data: any
}

/** An API that listens, and the client of the SDK, connected with the key of a project. */
export async function openMcp(
	t: ExecutionContext,
	options: Parameters<typeof openCampaigns>[1] = {},
) {
	const opened = await openCampaigns(t, options)
	const address = await opened.app.listen({ port: 0, host: '127.0.0.1' })
	const url = `${address}/mcp`

	/** `pin`: a client of today's protocol, which has no handshake. Without: one with the handshake. */
	async function connect(headers: object = opened.withSecretKey, pin?: string, at = url) {
		const client = new Client(
			{ name: 'test', version: '1.0.0' },
			pin ? { versionNegotiation: { mode: { pin } } } : {},
		)
		const requestInit = { headers: { ...headers } }
		await client.connect(new StreamableHTTPClientTransport(new URL(at), { requestInit }))
		t.teardown(() => client.close())
		return client
	}

	const callWith = async (client: Client, name: string, given: object = {}): Promise<Called> => {
		const answer = await client.callTool({ name, arguments: { ...given } })
		const [text, json] = answer.content as { text: string }[]
		const data = answer.structuredContent
		t.deepEqual(JSON.parse(json!.text), data)
		return { isError: answer.isError === true, text: text!.text, data }
	}
	let connected: Promise<Client> | undefined
	const use = async (name: string, given?: object) =>
		callWith(await (connected ??= connect()), name, given)
	return {
		...opened,
		url,
		connect,
		callWith,
		/** Calls a tool, whatever comes of it. */
		use,
		/** Calls a tool that must succeed. */
		done: async (name: string, given?: object) => {
			const called = await use(name, given)
			t.false(called.isError, called.text)
			return called
		},
		/** Calls a tool that must be refused, and returns the error. */
		refused: async (name: string, given?: object) => {
			const called = await use(name, given)
			t.true(called.isError, called.text)
			return called.data.error as {
				code: string
				message: string
				statusCode: number
				errors?: { field: string; code: string }[]
				suggestion?: string
			}
		},
		/** A message over plain HTTP. */
		post: (body: unknown, headers: object = opened.withSecretKey) =>
			fetch(url, {
				method: 'POST',
				headers: {
					'content-type': 'application/json',
					accept: 'application/json, text/event-stream',
					...headers,
				},
				body: typeof body === 'string' ? body : JSON.stringify(body),
			}),
	}
}

export const calling = (name: string, given: object = {}, id = 1) => ({
	jsonrpc: '2.0',
	id,
	method: 'tools/call',
	params: { name, arguments: given },
})
