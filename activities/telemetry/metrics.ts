import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import { listen, type Place } from './listener.ts'
import { measureBy } from './meter.ts'

interface Watched {
	pool: Pool
	log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
	/** More in the same format, from somebody else in this process. */
	more?: (() => Promise<string>) | undefined
}

/**
 * Shows what this process does, and what waits in the database, to whoever asks for `/metrics` on a port
 * of its own. Without a place nothing is loaded, and nothing counted.
 */
export async function showMetrics(place: Place | undefined, { pool, log, more }: Watched) {
	if (!place) return { stop: async () => {} }
	const { Gauge, collectDefaultMetrics, Registry } = await import('prom-client')
	const { prometheusMeter } = await import('./prometheus-meter.ts')
	const { watchBacklog } = await import('./backlog-gauges.ts')
	const registry: Registry = new Registry()
	collectDefaultMetrics({ register: registry })
	measureBy(prometheusMeter(registry))
	const connections = new Gauge({
		name: 'tempost_database_connections',
		help: 'Connections to Postgres by state, how many there may be (limit), and work that waits for one.',
		labelNames: ['state'] as const,
		registers: [registry],
		collect() {
			connections.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
			connections.set({ state: 'idle' }, pool.idleCount)
			connections.set({ state: 'waiting' }, pool.waitingCount)
			connections.set({ state: 'limit' }, pool.options.max)
		},
	})
	// Behind the former, so that our own question is not among what is counted there.
	watchBacklog(pool, registry)
	return listen(place, log, async () => {
		const [own, others] = await Promise.all([registry.metrics(), more?.().catch(() => '')])
		return { type: registry.contentType, text: `${own}${others ?? ''}` }
	})
}
