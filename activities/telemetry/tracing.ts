import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { TracingOptions } from './otel-tracer.ts'
import { traceBy, tracer } from './tracer.ts'

/** Whoever is told of spans may be away; nobody stays for that. */
const lastWordsMs = 2000

/** Follows requests through this process, if it is known whom to tell; else nothing of it is loaded. */
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
 * Tells each connection that is taken from the pool which span takes it: rows for Temporal note that by
 * default, whoever writes them, be it a trigger. It costs a statement, and only while traces are on.
 */
function carryTrace(pool: Pool) {
	const connect = pool.connect.bind(pool) as (callback?: (...args: Connected) => void) => unknown
	const traced = (callback?: (...args: Connected) => void) => {
		const trace = tracer.current() ?? ''
		if (!callback) return (connect() as Promise<PoolClient>).then((client) => tell(client, trace))
		return connect((error, client, release) => {
			if (client) tell(client, trace)
			callback(error, client, release)
		})
	}
	pool.connect = traced as Pool['connect']
}

function tell(client: PoolClient, trace: string) {
	// Not waited for: what the caller asks comes after it. A broken connection tells the caller, too.
	client.query({ name: 'set-trace', text: setTrace, values: [trace] }).catch(() => {})
	return client
}

const setTrace = `select set_config('tempost.trace', $1, false)`
