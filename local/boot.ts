import { existsSync } from 'node:fs'
import pg from 'pg'
import type { DataDir } from './data-dir.ts'
import { readJson } from './data-dir.ts'
import { stopPostgres } from './cluster.ts'
import { isFree, nextFree, onFreePort } from './ports.ts'
import { preparePostgres } from './postgres.ts'
import { launchNode, startService, type Keep } from './service.ts'
import type { Step } from './processes.ts'
import type { Settings } from './settings.ts'
import { StartError } from './terminal.ts'
import { prepareTemporal, stopTemporal } from './temporal.ts'

// The settings of the processes, and the addresses shown to people.
export interface Machine {
	settings: Settings
	dataDir: DataDir
	databaseUrl: string
	temporal: { address: string; uiUrl: string | null }
}

// Longer than a worker's grace period for mails in flight.
const stopNode: Step[] = [
	['SIGTERM', 30_000],
	['SIGKILL', 2000],
]

export async function bootDatabase({ databaseUrl }: Settings, dataDir: DataDir, keep: Keep) {
	if (!databaseUrl) return onFreePort(() => bootPostgres(dataDir, keep))
	await requirePostgres(databaseUrl)
	return databaseUrl
}

async function requirePostgres(connectionString: string) {
	const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 })
	client.on('error', () => {})
	try {
		await client.connect()
		const { rows } = await client.query('show server_version_num')
		if (Number(rows[0].server_version_num) < 180_000)
			throw new StartError('The Postgres at DATABASE_URL is too old: it must be 18 or newer.')
	} catch (error) {
		if (error instanceof StartError) throw error
		// The database may not exist yet: migrating creates it.
		if ((error as { code?: string }).code === '3D000') return
		const { message, code } = error as Error & { code?: string }
		throw new StartError(`The Postgres at DATABASE_URL cannot be used: ${message || code}`)
	} finally {
		await client.end().catch(() => {})
	}
}

async function bootPostgres(dataDir: DataDir, keep: Keep) {
	const port = await earlierPort(dataDir)
	const folder = dataDir.file('postgres')
	const postgres = await preparePostgres({
		folder,
		password: dataDir.secrets.postgresPassword,
		isPasswordNew: dataDir.areSecretsNew,
		isDurable: true,
		log: dataDir.log('postgres'),
		...(port && { port }),
	})
	await startService({
		name: 'Postgres',
		...postgres,
		steps: stopPostgres,
		pidFile: dataDir.pidFile('postgres'),
		mark: postgres.folder,
		log: dataDir.log('postgres'),
		keep,
	})
	return postgres.url
}

// The port of the last start, so that a psql in another window can reconnect.
async function earlierPort(dataDir: DataDir) {
	const file = dataDir.file('local.json')
	const url = existsSync(file) ? readJson<{ databaseUrl?: string }>(file)?.databaseUrl : undefined
	const port = Number(url && URL.parse(url)?.port)
	return port && (await isFree(port)) ? port : undefined
}

export async function bootTemporal(settings: Settings, dataDir: DataDir, keep: Keep) {
	const { temporalAddress } = settings
	if (temporalAddress) return { address: temporalAddress, uiUrl: null }
	return onFreePort(() => bootDevServer(settings, dataDir, keep))
}

async function bootDevServer(settings: Settings, dataDir: DataDir, keep: Keep) {
	const port = await nextFree(settings.temporalPort)
	const uiPort = await nextFree(settings.temporalUiPort, [port])
	const file = dataDir.file('temporal.db')
	const log = dataDir.log('temporal')
	const { namespace } = settings
	const temporal = await prepareTemporal({ file, log, namespace, isDurable: true, port, uiPort })
	await startService({
		name: 'Temporal',
		...temporal,
		steps: stopTemporal,
		pidFile: dataDir.pidFile('temporal'),
		mark: file,
		log,
		keep,
	})
	return { address: temporal.address, uiUrl: `http://localhost:${uiPort}` }
}

export async function bootNode(name: string, script: string, machine: Machine, keep: Keep) {
	const { dataDir } = machine
	const key = name.toLowerCase()
	const log = dataDir.log(key)
	await startService({
		name,
		launch: () => launchNode(name, script, environment(machine), log),
		steps: stopNode,
		pidFile: dataDir.pidFile(key),
		mark: script.replace(/ts$/, ''), // matches both the compiled file and the source
		log,
		keep,
	})
}

function environment({ settings, dataDir, databaseUrl, temporal }: Machine): NodeJS.ProcessEnv {
	return {
		// All who reach an installation on loopback are on this machine already, and so is what they develop.
		...(settings.isOnLoopback && { ALLOW_PRIVATE_WEBHOOKS: 'true' }),
		...process.env,
		HOST: settings.host,
		PORT: String(settings.port),
		PUBLIC_URL: settings.publicUrl,
		DATA_DIR: dataDir.folder,
		DATABASE_URL: databaseUrl,
		TEMPORAL_ADDRESS: temporal.address,
		TEMPORAL_NAMESPACE: settings.namespace,
		...(temporal.uiUrl && { TEMPORAL_UI_URL: temporal.uiUrl }),
		SESSION_SECRET: settings.sessionSecret ?? dataDir.secrets.sessionSecret,
	}
}
