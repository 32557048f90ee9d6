import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import { listen, type Endpoint } from './listener.ts'
import { measureBy } from './meter.ts'

interface Watched {
	pool: Pool
	log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
	/** Further metrics in the same format, from another part of this process. */
	more?: (() => Promise<string>) | undefined
}

/**
 * Serves the metrics of this process, and the backlog in the database, as `/metrics` on a port of its own.
 * Without an endpoint nothing is loaded and nothing is counted.
 */
export async function showMetrics(endpoint: Endpoint | undefined, { pool, log, more }: Watched) {
	if (!endpoint) return { stop: async () => {} }
	// In the bundle, a CommonJS package has only a default export.
	const { Gauge, collectDefaultMetrics, Registry } = (await import('prom-client')).default
	const { prometheusMeter } = await import('./prometheus-meter.ts')
	const { watchBacklog } = await import('./backlog-gauges.ts')
	const registry: Registry = new Registry()
	collectDefaultMetrics({ register: registry })
	measureBy(prometheusMeter(registry))
	const connections = new Gauge({
		name: 'tempost_database_connections',
		help: 'Connections to Postgres by state, their maximum (limit), and work waiting for one.',
		labelNames: ['state'] as const,
		registers: [registry],
		collect() {
			connections.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
			connections.set({ state: 'idle' }, pool.idleCount)
			connections.set({ state: 'waiting' }, pool.waitingCount)
			connections.set({ state: 'limit' }, pool.options.max)
		},
	})
	// Added after the query counter, so that our own query is not counted.
	watchBacklog(pool, registry)
	return listen(endpoint, log, async () => {
		const [own, others] = await Promise.all([registry.metrics(), more?.().catch(() => '')])
		return { type: registry.contentType, text: `${own}${others ?? ''}` }
	})
}
