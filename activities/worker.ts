import { MikroORM } from '@mikro-orm/postgresql'
import { Client, Connection } from '@temporalio/client'
import { makeTelemetryFilterString, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { pino } from 'pino'
import config from '../db/config.ts'
import { temporalConnection } from '../db/environment.ts'
import { startRelay } from '../db/relay.ts'
import { poolOf } from '../db/statement.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { createDkimKeys } from './dkim-keys.ts'
import { createGate } from './gate.ts'
import { createActivities } from './index.ts'
import { mailboxOf } from './mailbox.ts'
import { createProviderPause } from './provider-pause.ts'
import { createProvider } from './providers/choose.ts'
import { readSettings } from './settings.ts'

// The worker process: three Workers on one connection, and the relay that keeps them supplied.

const poolSize = 30

async function main() {
	const { env, ...settings } = readSettings(process.env)
	const log = pino({ level: env.LOG_LEVEL, base: { process: 'worker' } })
	Runtime.install({
		logger: {
			log: (level, message, meta) => log[pinoLevel(level)]({ ...meta }, message),
			trace: (message, meta) => log.trace({ ...meta }, message),
			debug: (message, meta) => log.debug({ ...meta }, message),
			info: (message, meta) => log.info({ ...meta }, message),
			warn: (message, meta) => log.warn({ ...meta }, message),
			error: (message, meta) => log.error({ ...meta }, message),
		},
		telemetryOptions: {
			logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
		},
		shutdownSignals: [],
	})

	const orm = await MikroORM.init({ ...config, pool: { min: 2, max: poolSize } })
	const pool = await poolOf(orm.em)
	const options = temporalConnection(env)
	const connection = await NativeConnection.connect(options)
	const temporal = new Client({
		connection: await Connection.connect(options),
		namespace: env.TEMPORAL_NAMESPACE,
	})
	const relay = startRelay({ pool, temporal, sendTaskQueue: taskQueues.core, log })
	const provider = createProvider(env, { store: mailboxOf(pool) })
	const stopping = new AbortController()
	const activities = createActivities({
		pool,
		provider,
		relay,
		gate: createGate(provider.concurrency),
		pause: createProviderPause(),
		dkimKeys: createDkimKeys(pool, env.SESSION_SECRET),
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
	} as const
	const workers = await Promise.all([
		Worker.create({
			...shared,
			taskQueue: taskQueues.core,
			workflowsPath: new URL('../workflows/index.ts', import.meta.url).pathname,
			activities,
			maxCachedWorkflows: 800,
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

	log.info({ provider: provider.name }, 'the worker runs')
	try {
		await Promise.all(workers.map((worker) => worker.run()))
	} finally {
		await relay.stop()
		await provider.close()
		await temporal.connection.close()
		await connection.close()
		await orm.close()
	}
}

const pinoLevel = (level: string) =>
	level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error'

try {
	await main()
	process.exit(0)
} catch (error) {
	pino({ base: { process: 'worker' } }).fatal({ err: error }, 'the worker cannot run')
	process.exit(1)
}
