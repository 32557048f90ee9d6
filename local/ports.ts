import { createServer, connect } from 'node:net'

export const isFree = (port: number, host = '127.0.0.1') =>
	new Promise<boolean>((done) => {
		const server = createServer()
		server.once('error', () => done(false))
		server.listen({ port, host, exclusive: true }, () => server.close(() => done(true)))
	})

export const anyPort = () =>
	new Promise<number>((done, fail) => {
		const server = createServer()
		server.once('error', fail)
		server.listen(0, '127.0.0.1', () => {
			const address = server.address()
			const port = typeof address === 'object' && address ? address.port : 0
			server.close(() => done(port))
		})
	})

// The wanted port, or the first free one after it.
export async function nextFree(wanted: number, taken: number[] = []) {
	for (let port = wanted; port < wanted + 200; port++)
		if (!taken.includes(port) && (await isFree(port))) return port
	return anyPort()
}

export const answers = (port: number, host = '127.0.0.1') =>
	new Promise<boolean>((done) => {
		const socket = connect({ port, host })
		socket.once('connect', () => done(true))
		socket.once('error', () => done(false))
		socket.once('close', () => socket.destroy())
		socket.once('connect', () => socket.destroy())
	})
