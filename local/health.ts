import { setTimeout as sleep } from 'node:timers/promises'
import type { Settings } from './settings.ts'

const patienceMs = 60_000

// Resolves once mail can flow, or to false if the API answers but a dependency stays unavailable.
export async function untilHealthy({ reachableHost, port }: Settings) {
	const host = reachableHost.includes(':') ? `[${reachableHost}]` : reachableHost
	for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(50))
		if ((await ask(`http://${host}:${port}/health`)) === 'ok') return true
	return false
}

async function ask(address: string) {
	try {
		const response = await fetch(address, { signal: AbortSignal.timeout(2000) })
		return ((await response.json()) as { status?: string }).status
	} catch {
		return undefined // not listening yet
	}
}
