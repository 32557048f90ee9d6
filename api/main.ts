import { MikroORM } from '@mikro-orm/postgresql'
import { Client, Connection } from '@temporalio/client'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { showMetrics } from '../outside/telemetry/metrics.ts'
import { startTracing } from '../outside/telemetry/tracing.ts'
import config from '../db/config.ts'
import { connecting } from '../db/connecting.ts'
import { EnvironmentError, temporalConnection } from '../db/environment.ts'
import { tellRelays } from '../db/outbox/telling.ts'
import { poolOf } from '../db/statement.ts'
import { anyWorker } from '../db/worker-heartbeat.ts'
import { createApp } from './app.ts'
import { warmUpMcp } from './mcp/mcp-server.ts'
import { logOptions } from './requests/log.ts'
import { readSettings } from './settings.ts'

// The API's process: settings, database and Temporal, then HTTP until it is stopped.

const poolSize = 20
/** A request that waits longer for a lock is refused with 503: it would keep its connection from other projects. */
const longestLockWaitMs = 2000
/**
 * Connections beyond the accepted ones wait here; with a shorter queue they would retry only after
 * seconds.
 */
const backlog = 4096
/** Requests in progress get this long; then the process ends anyway. */
const graceMs = 25_000

async function main() {
	const settings = readSettings(process.env)
	const orm = await MikroORM.init({
		...config,
		pool: { min: 2, max: poolSize },
		driverOptions: {
			...config.driverOptions,
			...connecting({ lock_timeout: longestLockWaitMs }),
			connectionTimeoutMillis: 5000,
		},
	})

	// Lazy: the API accepts mail whether Temporal is there or not.
	const connection = Connection.lazy(temporalConnection(settings.env))
	const temporal = new Client({ connection, namespace: settings.env.TEMPORAL_NAMESPACE })
	const pool = await poolOf(orm.em)
	const log = pino(logOptions(settings.logLevel))
	const metrics = await showMetrics(settings.metrics, { pool, log })
	const tracing = await startTracing(settings.tracing, pool)
	const relay = tellRelays({ pool, log })
	const checkTemporal = () => presence(temporal, pool)

	const app = await createApp({ orm, relay, settings, checkTemporal }, { loggerInstance: log })

	let stopping = false
	async function stop(reason: string) {
		if (stopping) return
		stopping = true
		app.log.info({ reason }, 'the API is stopping: requests in progress are finished first')
		setTimeout(() => process.exit(1), graceMs).unref()
		await app.close()
		await relay.stop()
		await metrics.stop()
		await connection.close()
		await orm.close()
		await tracing.stop()
		process.exit(0)
	}
	process.on('SIGTERM', () => void stop('SIGTERM'))
	process.on('SIGINT', () => void stop('SIGINT'))
	// The API ends with its parent, however the parent ends.
	process.on('disconnect', () => void stop('parent gone'))

	await warmUpMcp(app)
	await app.listen({ host: settings.host, port: settings.port, backlog })
}

/** Whether Temporal answers, and whether a worker process is alive. */
async function presence(temporal: Client, pool: Pool) {
	const [answers, [worker]] = await Promise.all([
		temporal
			.withDeadline(Date.now() + 1500, () => temporal.workflowService.getSystemInfo({}))
			.then(
				() => true,
				() => false,
			),
		anyWorker(pool),
	])
	return { temporal: answers, worker: worker!.alive }
}

try {
	await main()
} catch (error) {
	const log = pino(logOptions('info'))
	const { code, message } = error as NodeJS.ErrnoException
	if (error instanceof EnvironmentError) log.fatal(message)
	else if (code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL')
		log.fatal(`The API cannot listen: ${message}. Choose another HOST or PORT.`)
	else log.fatal({ err: error }, 'the API cannot run')
	process.exit(1)
}
