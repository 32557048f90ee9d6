import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MikroORM } from '@mikro-orm/postgresql'
import config from '../db/config.ts'
import { migrate } from '../db/migrating.ts'
import { Domain } from '../db/domains/domain.ts'
import { newKeys } from '../db/projects/project-keys.ts'
import { Project } from '../db/projects/project.ts'
import { nodeArguments } from '../build/processes.ts'
import { anyPort } from '../local/ports.ts'
import { newNamespace } from './namespace.ts'

/** One of our processes, started as in production. It may be killed and restarted. */
export interface Service {
	pid(): number
	start(): Promise<void>
	/** SIGTERM by default; resolves when the process has ended. */
	stop(signal?: NodeJS.Signals): Promise<void>
	output(): string
}

const root = join(import.meta.dirname, '..')
/** Our processes end with the benchmark. */
const parentWatch = new URL('../local/parent-watch.mjs', import.meta.url).href

export function service(
	entry: string,
	env: Record<string, string>,
	ready: (output: () => string) => Promise<boolean>,
): Service {
	let child: ChildProcess | undefined
	let output = ''
	return {
		pid: () => child!.pid!,
		output: () => output,
		async start() {
			output = ''
			const started = spawn(
				process.execPath,
				[`--import=${parentWatch}`, ...nodeArguments(entry)],
				{
					cwd: root,
					env: { ...process.env, ...env },
					stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
				},
			)
			child = started
			for (const stream of [started.stdout, started.stderr])
				stream?.on('data', (data) => (output = (output + data).slice(-20_000)))
			for (const deadline = Date.now() + 120_000; ; await sleep(20)) {
				if (started.exitCode !== null || started.signalCode !== null || Date.now() > deadline)
					throw new Error(`${entry} does not start:\n${output}`)
				if (await ready(() => output)) return
			}
		},
		async stop(signal = 'SIGTERM') {
			if (!child || child.exitCode !== null || child.signalCode !== null) return
			const gone = once(child, 'exit')
			child.kill(signal)
			await gone
		},
	}
}

export interface Stack {
	apiUrl: string
	namespace: string
	secretKey: string
	publicKey: string
	projectId: string
	databaseUrl: string
	orm: MikroORM
	api: Service
	worker: Service
	/** A further process like `worker`, which is yet to be started. */
	anotherWorker(): Service
	stop(): Promise<void>
}

/** A separate database with one project, an API and a worker, on the given servers. */
export async function prepareStack(
	servers: { databaseUrl: string; temporalAddress: string },
	env: Record<string, string>,
	attributes?: string[],
): Promise<Stack> {
	const name = `stack_${randomBytes(6).toString('hex')}`
	const databaseUrl = servers.databaseUrl.replace(/\/[^/]*$/, `/${name}`)
	const orm = await MikroORM.init({ ...config, clientUrl: databaseUrl, dbName: name })
	await migrate(orm)
	const { secretKey, columns } = newKeys()
	const em = orm.em.fork()
	const project = em.create(Project, { name: 'Bench', ...columns })
	await em.flush()
	em.create(Domain, {
		projectId: project.id,
		domain: 'example.com',
		verifiedAt: new Date(),
		sweepExempt: true,
	})
	await em.flush()

	const namespace = await newNamespace(servers.temporalAddress, attributes)
	const port = await anyPort()
	const apiUrl = `http://127.0.0.1:${port}`
	const shared = {
		DATABASE_URL: databaseUrl,
		TEMPORAL_ADDRESS: servers.temporalAddress,
		TEMPORAL_NAMESPACE: namespace,
		SESSION_SECRET: randomBytes(32).toString('hex'),
		HOST: '127.0.0.1',
		PORT: String(port),
		LOG_LEVEL: 'warn',
		RATE_LIMIT_PER_MINUTE: '0',
		SEND_RATE_PER_SECOND: '0',
		...env,
	}
	const api = service('api/main.ts', shared, () => answers(`${apiUrl}/health`))
	const workers: Service[] = []
	const anotherWorker = () => {
		const settings = { ...shared, LOG_LEVEL: 'info' }
		const worker = service('activities/worker.ts', settings, async (output) =>
			output().includes('the worker runs'),
		)
		workers.push(worker)
		return worker
	}
	return {
		apiUrl,
		namespace,
		secretKey,
		publicKey: columns.publicKey,
		projectId: project.id,
		databaseUrl,
		orm,
		api,
		worker: anotherWorker(),
		anotherWorker,
		async stop() {
			await Promise.all([api, ...workers].map((process) => process.stop()))
			await orm.close()
		},
	}
}

async function answers(url: string) {
	try {
		return (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok
	} catch {
		return false
	}
}
