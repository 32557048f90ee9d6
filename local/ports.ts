import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { PortTaken } from './terminal.ts'

const listeningOn = (port: number, host: string) =>
	new Promise<Server | undefined>((done) => {
		const server = createServer()
		server.once('error', () => done(undefined))
		server.listen({ port, host, exclusive: true }, () => done(server))
	})

const closed = (server: Server) => new Promise<void>((done) => server.close(() => done()))

export async function isFree(port: number, host = '127.0.0.1') {
	const server = await listeningOn(port, host)
	if (server) await closed(server)
	return server !== undefined
}

// A port that nobody else finds free until it is released. Below the ports that Linux and macOS give to connections, so
// that no connection takes the port before we do. At random, because tests ask for ports at the same moment.
export async function holdPort(tries = 50): Promise<{ port: number; release(): Promise<void> }> {
	const port = randomInt(20_000, 32_000)
	const server = await listeningOn(port, '127.0.0.1')
	if (server) return { port, release: () => closed(server) }
	if (tries === 1) throw new Error('None of 50 ports of 127.0.0.1 is free')
	return holdPort(tries - 1)
}

export async function anyPort() {
	const { port, release } = await holdPort()
	await release()
	return port
}

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
