import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { TracingOptions } from './otel-tracer.ts'
import { traceBy, tracer } from './tracer.ts'

/** The collector may be unavailable; the process doesn't wait longer for it. */
const lastWordsMs = 2000

/** Traces requests through this process if a collector is configured; otherwise nothing of it is loaded. */
export async function startTracing(options: TracingOptions | undefined, pool: Pool) {
	if (!options) return { stop: async () => {} }
	const { otelTracer } = await import('./otel-tracer.ts')
	const { tracer, stop } = otelTracer(options)
	traceBy(tracer)
	carryTrace(pool)
	return {
		stop: () =>
			Promise.race([stop().catch(() => {}), sleep(lastWordsMs, undefined, { ref: false })]),
	}
}

type Connected = Parameters<Parameters<Pool['connect']>[0]>

/**
 * Stores the current span in each connection taken from the pool. Rows for Temporal record it by default,
 * whoever writes them, including triggers. This costs a statement, and only while tracing is on.
 */
function carryTrace(pool: Pool) {
	const connect = pool.connect.bind(pool) as (callback?: (...args: Connected) => void) => unknown
	const traced = (callback?: (...args: Connected) => void) => {
		const trace = tracer.current() ?? ''
		if (!callback)
			return (connect() as Promise<PoolClient>).then((client) => storeTrace(client, trace))
		return connect((error, client, release) => {
			if (client) storeTrace(client, trace)
			callback(error, client, release)
		})
	}
	pool.connect = traced as Pool['connect']
}

function storeTrace(client: PoolClient, trace: string) {
	// Not awaited: the caller's statements come after it. A broken connection fails the caller's statement
	// too.
	client.query({ name: 'set-trace', text: setTrace, values: [trace] }).catch(() => {})
	return client
}

const setTrace = `select set_config('tempost.trace', $1, false)`
