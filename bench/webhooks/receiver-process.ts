// The receiver of `receiver.ts`. It prints its port.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let seen = new Set<string>()
let all: { at: number; body: string }[] = []
let times = { firstAt: 0, lastAt: 0 }
const server = createServer((request, response) => {
	if (request.url === '/hook') {
		let body = ''
		request.setEncoding('utf8')
		request.on('data', (chunk: string) => (body += chunk))
		request.on('end', () => {
			const at = Date.now()
			seen.add(request.headers['webhook-id'] as string)
			all.push({ at, body })
			times = { firstAt: times.firstAt || at, lastAt: at }
			response.end()
		})
		return
	}
	if (request.method === 'DELETE') {
		seen = new Set()
		all = []
		times = { firstAt: 0, lastAt: 0 }
	}
	const answer =
		request.url === '/bodies' ? all : { requests: all.length, distinct: seen.size, ...times }
	response.end(JSON.stringify(answer))
})
server.listen(0, '127.0.0.1', () => console.log(String((server.address() as AddressInfo).port)))
