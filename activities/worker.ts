import { randomUUID } from 'node:crypto'
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
import { providerReports } from '../db/provider-state.ts'
import { poolOf } from '../db/statement.ts'
import { startAnalyzing } from '../db/statistics.ts'
import { startHeartbeat } from '../db/worker-heartbeat.ts'
import { emailQueueOf, taskQueues } from '../workflows/task-queues.ts'
import { watchUsage } from './billing/usage-watch.ts'
import { mostShortPasses } from './delivery/deliveries.ts'
import { createDkimKeys } from './delivery/dkim-keys.ts'
import type { Rest } from './delivery/delivery.ts'
import { createGate } from './delivery/gate.ts'
import { createLargeMails } from './delivery/large-mails.ts'
import { mailboxOf } from './delivery/mailbox.ts'
import { createRecords } from './delivery/recorder.ts'
import { createProviderPause } from './delivery/provider-pause.ts'
import { watchedProvider } from './delivery/watched-provider.ts'
import { createDomainChecker } from '../outside/domains/checker.ts'
import { createActivities } from './index.ts'
import { createProvider } from '../outside/providers/choose.ts'
import { tracedWorker } from './run-tracing.ts'
import { ensureSchedules } from './schedules.ts'
import { registerSearchAttributes } from './search-attributes.ts'
import { keepTemporal } from './temporal-keeping.ts'
import { movesAtOnce } from './automations/automations.ts'
import { readSettings } from './settings.ts'
import { createStripe } from '../outside/stripe/client.ts'
import { meter } from '../outside/telemetry/meter.ts'
import { showMetrics } from '../outside/telemetry/metrics.ts'
import { followRow } from '../outside/telemetry/relay-tracing.ts'
import { traceStarts } from '../outside/telemetry/start-tracing.ts'
import { startTracing } from '../outside/telemetry/tracing.ts'
import { temporalMetrics } from './temporal-metrics.ts'
import { workflowBundle } from './workflow-bundle.ts'

// The worker process: Workers for our task queues on one connection, and the relay that starts their runs.

const poolSize = 30
/** Deliveries of webhooks leave the others to mail. */
const webhookPoolSize = 8
/** Moves of executions hold theirs while they render templates, which may be slow. Mail keeps the others. */
const automationPoolSize = movesAtOnce
/**
 * Calls of WEBHOOK steps need one only before and after they wait for a server. They don't share those of moves: a
 * call whose answer waits too long for a connection is repeated.
 */
const callPoolSize = 4

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
	const webhookOrm = await MikroORM.init({ ...config, pool: { min: 0, max: webhookPoolSize } })
	const automationOrm = await MikroORM.init({
		...config,
		pool: { min: 0, max: automationPoolSize },
	})
	const callOrm = await MikroORM.init({ ...config, pool: { min: 0, max: callPoolSize } })
	const metrics = await showMetrics(settings.metrics, { pool, log, more: sdkMetrics?.read })
	const tracing = await startTracing(settings.tracing, pool)
	const options = temporalConnection(env)
	const connection = await NativeConnection.connect(options)
	const client = {
		namespace: env.TEMPORAL_NAMESPACE,
		...(settings.tracing && { interceptors: { workflow: [traceStarts] } }),
	}
	const temporal = new Client({ ...client, connection: await Connection.connect(options) })
	const showsStops = await registerSearchAttributes(temporal, log)
	await ensureSchedules(temporal)
	const workersClient = new Client({ ...client, connection })
	let isRunning = false
	const relay = startRelay({
		pool,
		temporal,
		workersClient: () => (isRunning ? workersClient : null),
		workflowTaskQueue: taskQueues.core,
		log,
		follow: followRow,
	})
	const temporalKeeping = keepTemporal({ pool, temporal, log, registers: showsStops })
	const provider = watchedProvider(createProvider(env, { store: mailboxOf(pool) }))
	const pause = createProviderPause(providerReports(pool, provider.name))
	meter.watch(
		'tempost_provider_pause_seconds',
		'How long sending to a throttling or absent provider still pauses.',
		() => pause.remainingMs() / 1000,
	)
	const stopping = new AbortController()
	const id = randomUUID()
	const firstPasses = new Map<string, Promise<Rest>>()
	const activities = createActivities({
		pool,
		webhookPool: await poolOf(webhookOrm.em),
		automationPool: await poolOf(automationOrm.em),
		callPool: await poolOf(callOrm.em),
		temporal,
		showsStops,
		provider,
		relay,
		stripe: settings.stripe && (await createStripe(settings.stripe)),
		gate: createGate(provider.concurrency),
		record: createRecords(pool),
		inHand: new Set(),
		workerId: id,
		firstPasses,
		largeMails: createLargeMails(),
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
			workflowBundle: await workflowBundle(settings.tracing ? 'traced' : 'plain'),
			activities,
			// Executions that sleep for months don't need to stay in memory. Reloading an evicted one takes some
			// milliseconds; keeping it takes a third of a megabyte.
			maxCachedWorkflows: 400,
			maxConcurrentWorkflowTaskExecutions: 40 + mostShortPasses,
			maxConcurrentActivityTaskExecutions: 20,
		}),
		// Runs waiting for their project's send rate wait here at almost no cost. The gate limits the mails that
		// are under way.
		Worker.create({
			...shared,
			taskQueue: taskQueues.email,
			activities,
			maxConcurrentActivityTaskExecutions: 1000,
		}),
		// Its share of the campaigns' lanes. Temporal would give most tasks of a common queue to one worker.
		Worker.create({
			...shared,
			taskQueue: emailQueueOf(id),
			activities,
			maxConcurrentActivityTaskPolls: 2,
			maxConcurrentActivityTaskExecutions: 1000,
		}),
		Worker.create({
			...shared,
			taskQueue: taskQueues.bulk,
			activities,
			maxConcurrentActivityTaskExecutions: 4,
		}),
		Worker.create({
			...shared,
			taskQueue: taskQueues.moves,
			activities,
			maxConcurrentActivityTaskExecutions: 2 * movesAtOnce,
		}),
		// Slow servers of customers occupy these slots only.
		Worker.create({
			...shared,
			taskQueue: taskQueues.webhooks,
			activities,
			maxConcurrentActivityTaskExecutions: 100,
		}),
		Worker.create({
			...shared,
			taskQueue: taskQueues.calls,
			activities,
			maxConcurrentActivityTaskExecutions: 100,
		}),
	])

	function stop() {
		if (stopping.signal.aborted) return
		log.info('the worker is stopping: mails in progress are finished first')
		isRunning = false
		stopping.abort()
		for (const worker of workers) worker.shutdown()
	}
	process.on('SIGTERM', stop)
	process.on('SIGINT', stop)
	process.on('disconnect', stop)

	const heartbeat = await startHeartbeat(pool, id)
	const listening = listenToOutbox({ pool, relay, reactsFirst: heartbeat.reactsFirst, log })
	const stopFolding = startFolding({ pool, relay, log })
	const stopAnalyzing = startAnalyzing(pool)
	const stopWatching = settings.hasBilling && watchUsage({ pool, relay, log, settings })
	log.info({ provider: provider.name }, 'the worker runs')
	try {
		const runs = workers.map((worker) => worker.run())
		isRunning = true
		await Promise.all(runs)
		await Promise.allSettled(firstPasses.values())
	} finally {
		isRunning = false
		await heartbeat.stop()
		await stopFolding()
		await stopAnalyzing()
		if (stopWatching) await stopWatching()
		temporalKeeping.stop()
		await listening.stop()
		await relay.stop()
		await metrics.stop()
		await provider.close()
		await temporal.connection.close()
		await connection.close()
		await webhookOrm.close()
		await automationOrm.close()
		await callOrm.close()
		await orm.close()
		await tracing.stop()
	}
}

/** Writes Temporal's own messages to our log. Messages about normal operation are logged at debug level. */
function sdkLogger(log: Logger): TemporalLogger {
	const levels = {
		TRACE: 'trace',
		DEBUG: 'debug',
		INFO: 'debug',
		WARN: 'warn',
		ERROR: 'error',
	} as const
	const write = (level: LogLevel, message: string, meta?: object) => {
		// All Workers but one have no workflows on purpose.
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
