import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Metrics of Temporal's SDK: latencies and failures of workflows and activities, task slots, cache. The
 * SDK serves them on a private port, from which our metrics endpoint reads them.
 */
export async function temporalMetrics() {
	const bindAddress = `127.0.0.1:${await freePort()}`
	const prometheus = {
		bindAddress,
		countersTotalSuffix: true,
		unitSuffix: true,
		useSecondsForDurations: true,
	}
	return {
		options: { metrics: { prometheus } },
		async read() {
			const answer = await fetch(`http://${bindAddress}/metrics`, {
				signal: AbortSignal.timeout(2000),
			})
			return answer.text()
		},
	}
}

async function freePort() {
	const server = createServer().listen(0, '127.0.0.1')
	await once(server, 'listening')
	const { port } = server.address() as AddressInfo
	server.close()
	await once(server, 'close')
	return port
}
