import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { onFreePort } from './ports.ts'
import { startPostgres } from './postgres.ts'
import { remember } from './processes.ts'
import { makeScratch, sweepScratch } from './scratch.ts'
import { startTemporal } from './temporal.ts'
import { temporalTestServer } from './temporal-programs.ts'
import { say } from './terminal.ts'

export interface Servers {
	databaseUrl: string
	temporalAddress: string
	testServerPath: string | undefined
}

// Starts a throw-away Postgres and Temporal for a run, and always stops them. SIGINT and SIGTERM abort the
// signal: the run ends first, then the servers. For benchmarks, durable servers have the same settings as
// in `npm start`; the others are tuned for fast tests.
export async function withServers<T>(
	run: (servers: Servers, signal: AbortSignal) => Promise<T>,
	{ isDurable = false } = {},
) {
	const stopping = new AbortController()
	const stop = () => stopping.abort()
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
	await sweepScratch()
	const folder = makeScratch({ isInMemory: !isDurable })
	const file = (name: string) => join(folder, name)
	const running: (() => Promise<void>)[] = []
	try {
		const testServer = temporalTestServer().catch((error: Error) => {
			say(`${error.message}\nTests that skip time cannot run.`)
			return undefined
		})
		const started = await Promise.allSettled([
			onFreePort(() => startPostgres({ folder: file('postgres'), isDurable })).then((postgres) => {
				running.push(postgres.stop)
				remember(file('postgres.pid'), postgres.pid, 'postgres')
				return postgres.url
			}),
			onFreePort(() =>
				startTemporal({ file: file('temporal'), namespace: 'default', isDurable }),
			).then((temporal) => {
				running.push(temporal.stop)
				remember(file('temporal.pid'), temporal.pid, 'start-dev')
				return temporal.address
			}),
		])
		const [databaseUrl, temporalAddress] = started.map((result) => {
			if (result.status === 'rejected') throw result.reason
			return result.value
		})
		stopping.signal.throwIfAborted()
		return await run(
			{
				databaseUrl: databaseUrl!,
				temporalAddress: temporalAddress!,
				testServerPath: await testServer,
			},
			stopping.signal,
		)
	} finally {
		await Promise.all(running.map((stopServer) => stopServer()))
		rmSync(folder, { recursive: true, force: true })
	}
}
