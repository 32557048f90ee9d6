import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

export interface Received {
	requests: number
	/** The `webhook-id` of each, once. */
	distinct: number
	firstAt: number
	lastAt: number
}

/** A customer's server as a process of its own, so that its work is not counted as ours. */
export async function startReceiver() {
	const child = spawn(process.execPath, ['--import=tsx', import.meta.filename], {
		stdio: ['ignore', 'pipe', 'inherit'],
	})
	const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
	const base = `http://127.0.0.1:${line}`
	const ask = async (path: string, method = 'GET') =>
		(await fetch(`${base}${path}`, { method })).json()
	return {
		url: `${base}/hook`,
		received: () => ask('/received') as Promise<Received>,
		/** The bodies since the last `forget`, with the times of their arrival. */
		bodies: () => ask('/bodies') as Promise<{ at: number; body: string }[]>,
		forget: () => ask('/received', 'DELETE'),
		async close() {
			child.kill()
			await once(child, 'exit')
		},
	}
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

function serve() {
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
}

if (process.argv[1] === import.meta.filename) serve()
