import { createServer } from 'node:net'
import { PortTaken } from './terminal.ts'

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

// Returns the wanted port, or the first free one after it.
export async function nextFree(wanted: number, taken: number[] = []) {
	for (let port = wanted; port < wanted + 200; port++)
		if (!taken.includes(port) && (await isFree(port))) return port
	return anyPort()
}

// Two starts at the same moment may find the same free port; the later one tries again.
export async function onFreePort<T>(start: () => Promise<T>): Promise<T> {
	for (let attempt = 1; ; attempt++)
		try {
			return await start()
		} catch (error) {
			if (!(error instanceof PortTaken) || attempt === 4) throw error
		}
}
