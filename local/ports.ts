import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { PortTaken } from './terminal.ts'

export const isFree = (port: number, host = '127.0.0.1') =>
	new Promise<boolean>((done) => {
		const server = createServer()
		server.once('error', () => done(false))
		server.listen({ port, host, exclusive: true }, () => server.close(() => done(true)))
	})

// Below the ports that Linux and macOS give to connections, so that no connection takes the port before we do. At
// random, because tests ask for ports at the same moment.
export async function anyPort(tries = 50): Promise<number> {
	const port = randomInt(20_000, 32_000)
	if (await isFree(port)) return port
	if (tries === 1) throw new Error('None of 50 ports of 127.0.0.1 is free')
	return anyPort(tries - 1)
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
