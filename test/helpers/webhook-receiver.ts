import type { ExecutionContext } from 'ava'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export interface Heard {
	at: number
	headers: IncomingHttpHeaders
	body: string
	type: string
	data: Record<string, unknown>
}

type Answer = (response: ServerResponse, heard: Heard) => void

export const answering =
	(status: number, body = '', headers: Record<string, string> = {}): Answer =>
	(response) =>
		response.writeHead(status, headers).end(body)

export function isSignedBy(secret: string, { body, headers }: Heard) {
	try {
		new Webhook(secret).verify(body, headers as Record<string, string>)
		return true
	} catch {
		return false
	}
}

/** A customer's server. Assign `answer` to change what it says. */
export async function startReceiver(t: ExecutionContext, answer: Answer = answering(200)) {
	const receiver = { heard: [] as Heard[], answer, url: '', connections: 0 }
	const http = createServer((request, response) => {
		let body = ''
		request.on('data', (chunk: Buffer) => (body += chunk.toString()))
		request.on('end', () => {
			const { type, data } = JSON.parse(body) as Heard
			const one = { at: Date.now(), headers: request.headers, body, type, data }
			receiver.heard.push(one)
			receiver.answer(response, one)
		})
	})
	http.on('connection', () => receiver.connections++)
	await once(http.listen(0, '127.0.0.1'), 'listening')
	receiver.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook`
	t.teardown(() => {
		http.close()
		http.closeAllConnections()
	})
	return receiver
}
