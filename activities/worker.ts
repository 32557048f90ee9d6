import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { MikroORM } from '@mikro-orm/postgresql'
import { Client, Connection } from '@temporalio/client'
import {
	type Logger as TemporalLogger,
	type LogLevel,
	makeTelemetryFilterString,
	NativeConnection,
	Runtime,
	Worker,
} from '@temporalio/worker'
import { type Logger, pino } from 'pino'
import config from '../db/config.ts'
import { startFolding } from '../db/emails/engagement-fold.ts'
import { EnvironmentError, temporalConnection } from '../db/environment.ts'
import { listenToOutbox } from '../db/outbox/outbox-listening.ts'
import { startRelay } from '../db/outbox/relay.ts'
import { providerNotes } from '../db/provider-state.ts'
import { poolOf } from '../db/statement.ts'
import { startAnalyzing } from '../db/statistics.ts'
import { startBeating } from '../db/worker-beat.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { keepAutomationSchedules } from './automations/automation-schedules.ts'
import { watchUsage } from './billing/usage-watch.ts'
import { createDkimKeys } from './delivery/dkim-keys.ts'
import { createGate } from './delivery/gate.ts'
import { mailboxOf } from './delivery/mailbox.ts'
import { createProviderPause } from './delivery/provider-pause.ts'
import { watchedProvider } from './delivery/watched-provider.ts'
import { createDomainChecker } from './domain-checking/checker.ts'
import { createActivities } from './index.ts'
import { createProvider } from './providers/choose.ts'
import { tracedWorker } from './run-tracing.ts'
import { ensureSchedules } from './schedules.ts'
import { registerSearchAttributes } from './search-attributes.ts'
import { readSettings } from './settings.ts'
import { createStripe } from './stripe/client.ts'
import { meter } from './telemetry/meter.ts'
import { showMetrics } from './telemetry/metrics.ts'
import { followRow } from './telemetry/relay-tracing.ts'
import { traceStarts } from './telemetry/start-tracing.ts'
import { startTracing } from './telemetry/tracing.ts'
import { temporalMetrics } from './temporal-metrics.ts'

// The worker process: three Workers on one connection, and the relay that keeps them supplied.

const poolSize = 30

async function main() {
	const { env, ...settings } = readSettings(process.env)
	const log = pino({ level: env.LOG_LEVEL, base: { process: 'worker' } })
	const sdkMetrics = settings.metrics && (await temporalMetrics())
	Runtime.install({
		logger: sdkLogger(log),
		telemetryOptions: {
			...sdkMetrics?.options,
			logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
		},
		shutdownSignals: [],
	})

	const orm = await MikroORM.init({ ...config, pool: { min: 2, max: poolSize } })
	const pool = await poolOf(orm.em)
	const metrics = await showMetrics(settings.metrics, { pool, log, more: sdkMetrics?.read })
	const tracing = await startTracing(settings.tracing, pool)
	const options = temporalConnection(env)
	const connection = await NativeConnection.connect(options)
	const temporal = new Client({
		connection: await Connection.connect(options),
		namespace: env.TEMPORAL_NAMESPACE,
		...(settings.tracing && { interceptors: { workflow: [traceStarts] } }),
	})
	const showsStops = await registerSearchAttributes(temporal, log)
	await ensureSchedules(temporal)
	const relay = startRelay({
		pool,
		temporal,
		workflowTaskQueue: taskQueues.core,
		log,
		follow: followRow,
	})
	const listening = listenToOutbox(pool, relay.wake, log)
	const scheduleKeeping = keepAutomationSchedules(pool, temporal, log)
	const provider = watchedProvider(createProvider(env, { store: mailboxOf(pool) }))
	const pause = createProviderPause(providerNotes(pool, provider.name))
	meter.watch(
		'tempost_provider_pause_seconds',
		'How long the provider is still left alone, which throttled or was away.',
		() => pause.remainingMs() / 1000,
	)
	const stopping = new AbortController()
	const activities = createActivities({
		pool,
		temporal,
		showsStops,
		provider,
		relay,
		stripe: settings.stripe && createStripe(settings.stripe),
		gate: createGate(provider.concurrency),
		inHand: new Set(),
		pause,
		dkimKeys: createDkimKeys(pool, env.SESSION_SECRET),
		domains: createDomainChecker(pool, env, settings.webhooks.dnsServers),
		stopping: stopping.signal,
		settings: {
			...settings,
			sendRatePerSecond: env.SEND_RATE_PER_SECOND ?? (provider.name === 'local' ? 0 : 14),
		},
	})

	const shared = {
		connection,
		namespace: env.TEMPORAL_NAMESPACE,
		shutdownGraceTime: '20 seconds',
		...(settings.tracing && tracedWorker),
	} as const
	const workers = await Promise.all([
		Worker.create({
			...shared,
			taskQueue: taskQueues.core,
			workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
			activities,
			// Executions that sleep for months need not lie in memory: to wake one that was evicted costs
			// some milliseconds, to keep it a third of a megabyte.
			maxCachedWorkflows: 400,
			maxConcurrentActivityTaskExecutions: 20,
		}),
		// Runs that wait for their project's send rate wait here, and cost next to nothing; what is
		// really under way is bounded by the gate.
		Worker.create({
			...shared,
			taskQueue: taskQueues.email,
			activities,
			maxConcurrentActivityTaskExecutions: 1000,
		}),
		Worker.create({
			...shared,
			taskQueue: taskQueues.bulk,
			activities,
			maxConcurrentActivityTaskExecutions: 4,
		}),
	])

	function stop() {
		if (stopping.signal.aborted) return
		log.info('the worker stops: what is under way is finished first')
		stopping.abort()
		for (const worker of workers) worker.shutdown()
	}
	process.on('SIGTERM', stop)
	process.on('SIGINT', stop)
	process.on('disconnect', stop)

	const stopBeating = await startBeating(pool, randomUUID())
	const stopFolding = startFolding({ pool, relay, log })
	const stopAnalyzing = startAnalyzing(pool)
	const stopWatching = settings.hasBilling && watchUsage({ pool, relay, log, settings })
	log.info({ provider: provider.name }, 'the worker runs')
	try {
		await Promise.all(workers.map((worker) => worker.run()))
	} finally {
		await stopBeating()
		await stopFolding()
		await stopAnalyzing()
		if (stopWatching) await stopWatching()
		scheduleKeeping.stop()
		await listening.stop()
		await relay.stop()
		await metrics.stop()
		await provider.close()
		await temporal.connection.close()
		await connection.close()
		await orm.close()
		await tracing.stop()
	}
}

/** Temporal's own messages in our log. What it tells about a normal life is for debugging. */
function sdkLogger(log: Logger): TemporalLogger {
	const levels = {
		TRACE: 'trace',
		DEBUG: 'debug',
		INFO: 'debug',
		WARN: 'warn',
		ERROR: 'error',
	} as const
	const write = (level: LogLevel, message: string, meta?: object) => {
		// A Worker without workflows is what we want for two of the three.
		const isNoise = message.startsWith('No workflows registered')
		log[isNoise ? 'debug' : levels[level]]({ ...meta }, message)
	}
	return {
		log: write,
		trace: (message, meta) => write('TRACE', message, meta),
		debug: (message, meta) => write('DEBUG', message, meta),
		info: (message, meta) => write('INFO', message, meta),
		warn: (message, meta) => write('WARN', message, meta),
		error: (message, meta) => write('ERROR', message, meta),
	}
}

try {
	await main()
	process.exit(0)
} catch (error) {
	const log = pino({ base: { process: 'worker' } })
	if (error instanceof EnvironmentError) log.fatal(error.message)
	else log.fatal({ err: error }, 'the worker cannot run')
	process.exit(1)
}
