import { createServer, type ServerResponse } from 'node:http'

export interface Place {
	host: string
	port: number
}

interface Log {
	info(fields: object, message: string): void
	warn(fields: object, message: string): void
}

/**
 * Answers `GET /metrics`, and nothing else, on a port that is not the API's. It must never be what keeps
 * mail from flowing: a port that is taken, say by the process that this one replaces, is tried again.
 */
export function listen(
	place: Place,
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
	// Whoever only looks keeps no process from ending.
	server.unref()
	server.on('listening', () => log.info({ ...(server.address() as object) }, 'metrics are shown'))
	server.on('error', (error) => {
		log.warn({ ...place, err: error }, 'the port of the metrics cannot be had yet')
		if (!server.listening) again = setTimeout(() => server.listen(place), againMs).unref()
	})
	server.listen(place)
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
