import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopPostgres } from './cluster.ts'
import { onFreePort } from './ports.ts'
import { startPostgres } from './postgres.ts'
import { endSurvivor, remember, survivor } from './processes.ts'
import { startTemporal, stopTemporal } from './temporal.ts'
import { temporalTestServer } from './temporal-programs.ts'
import { say } from './terminal.ts'

export interface Servers {
	databaseUrl: string
	temporalAddress: string
	testServerPath: string | undefined
}

const prefix = 'tempost-servers-'

// Brings up a throw-away Postgres and Temporal around a run, and takes them down whatever happens.
// SIGINT and SIGTERM are passed on through the signal; the run ends, then the servers do.
export async function withServers<T>(run: (servers: Servers, signal: AbortSignal) => Promise<T>) {
	const stopping = new AbortController()
	const stop = () => stopping.abort()
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
	await sweep()
	const folder = mkdtempSync(join(tmpdir(), prefix))
	chmodSync(folder, 0o711) // Postgres' own user passes through it when we are root
	const file = (name: string) => join(folder, name)
	remember(file('owner'), process.pid, '')
	const running: (() => Promise<void>)[] = []
	try {
		const testServer = temporalTestServer().catch((error: Error) => {
			say(`${error.message}\nTests that skip time cannot run.`)
			return undefined
		})
		const started = await Promise.allSettled([
			onFreePort(() => startPostgres({ folder: file('postgres'), isDurable: false })).then(
				(postgres) => {
					running.push(postgres.stop)
					remember(file('postgres.pid'), postgres.pid, 'postgres')
					return postgres.url
				},
			),
			onFreePort(() =>
				startTemporal({ file: file('temporal'), namespace: 'default', isDurable: false }),
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

// Ends the servers of runs that were killed before they could clean up.
async function sweep() {
	for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
		const folder = join(tmpdir(), name)
		const file = (entry: string) => join(folder, entry)
		const stat = statSync(folder, { throwIfNoEntry: false })
		const isYoung = !stat || Date.now() - stat.mtimeMs < 60_000
		if (isYoung || stat.uid !== process.getuid?.() || survivor(file('owner'))) continue
		await endSurvivor(file('postgres.pid'), stopPostgres)
		await endSurvivor(file('temporal.pid'), stopTemporal)
		rmSync(folder, { recursive: true, force: true })
	}
}
