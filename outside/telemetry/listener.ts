import { createServer, type ServerResponse } from 'node:http'

export interface Endpoint {
	host: string
	port: number
}

interface Log {
	info(fields: object, message: string): void
	warn(fields: object, message: string): void
}

/**
 * Answers only `GET /metrics`, on a port other than the API's. It must never stop mail from flowing: if
 * the port is taken, for example by the process that this one replaces, it tries again.
 */
export function listen(
	endpoint: Endpoint,
	log: Log,
	read: () => Promise<{ type: string; text: string }>,
	againMs = 5000,
) {
	let again: NodeJS.Timeout | undefined
	const server = createServer((request, response) => {
		const path = request.url?.split('?', 1)[0]
		if (path !== '/metrics') return end(response, 404, 'There is /metrics\n')
		if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405, 'GET it\n')
		read().then(
			({ type, text }) => end(response, 200, text, type),
			(error: unknown) => {
				log.warn({ err: error }, 'the metrics could not be read')
				end(response, 500, 'The metrics could not be read\n')
			},
		)
	})
	server.requestTimeout = 10_000
	// Metrics don't keep the process alive.
	server.unref()
	server.on('listening', () => log.info({ ...(server.address() as object) }, 'metrics are shown'))
	server.on('error', (error) => {
		log.warn({ ...endpoint, err: error }, 'the port for metrics is taken; it is tried again')
		if (!server.listening) again = setTimeout(() => server.listen(endpoint), againMs).unref()
	})
	server.listen(endpoint)
	return {
		address: () => server.address(),
		async stop() {
			clearTimeout(again)
			server.closeAllConnections()
			await new Promise<void>((done) => void server.close(() => done()))
		},
	}
}

function end(response: ServerResponse, status: number, text: string, type = 'text/plain') {
	response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
	response.end(text)
}
