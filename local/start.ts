// Everything on one machine: `npm start`. Postgres, Temporal, the API and one worker, until Ctrl-C.
import { existsSync } from 'node:fs'
import { EnvironmentError } from '../db/environment.ts'
import { bootDatabase, bootNode, bootTemporal } from './boot.ts'
import { endLeftovers, openDataDir, type DataDir } from './data-dir.ts'
import { untilHealthy } from './health.ts'
import { isFree } from './ports.ts'
import { forget } from './processes.ts'
import type { Service } from './service.ts'
import { readSettings, type Settings } from './settings.ts'
import { describe, printSummary, writeDescription } from './summary.ts'
import { say, StartError } from './terminal.ts'

const began = Date.now()
const services: Service[] = []
const hurry = new AbortController()
let stopping: Promise<void> | undefined
let dataDir: DataDir | undefined

followSignals()
followParent()
try {
	if (existsSync('.env')) process.loadEnvFile()
	await start(readSettings(process.env))
} catch (error) {
	await stop(1, error as Error) // has no effect if stopping has begun
}

async function start(settings: Settings) {
	dataDir = openDataDir(settings.dataDir)
	await endLeftovers(dataDir)
	await requirePort(settings)

	const temporalBooting = bootTemporal(settings, dataDir, keep)
	temporalBooting.catch(() => {}) // handled below, unless Postgres fails first
	const loading = import('./bootstrap.ts') // loading the ORM takes as long as starting the servers
	const databaseUrl = await bootDatabase(settings, dataDir, keep)
	const { prepareDatabase } = await loading
	const { project, loginToken } = await prepareDatabase(databaseUrl, {
		remembered: dataDir.secrets.project,
		remember: dataDir.rememberProject,
	})
	const machine = { settings, dataDir, databaseUrl, temporal: await temporalBooting }
	const description = describe(machine, project, loginToken)
	// Written before the API answers, so that scripts waiting for /health find the keys.
	writeDescription(dataDir, description)
	await Promise.all([
		bootNode('API', 'api/main.ts', machine, keep),
		bootNode('Worker', 'activities/worker.ts', machine, keep),
	])
	const isHealthy = await Promise.race([
		untilHealthy(settings),
		...services.map(({ failed }) => failed),
	])
	for (const service of services) service.settle()
	printSummary(description, { dataDir, isHealthy, seconds: (Date.now() - began) / 1000 })
}

function keep(service: Service) {
	if (stopping) throw new StartError(`${service.name} is not started: everything is being stopped`)
	services.push(service)
}

async function requirePort({ host, port }: Settings) {
	if (await isFree(port, host)) return
	throw new StartError(
		`Port ${port} on ${host} is taken. Set PORT to a free one: PORT=${port + 1} npm start`,
	)
}

// In this order, requests and mails finish while Temporal and Postgres are still running.
function stop(code: number, error?: Error) {
	stopping ??= (async () => {
		if (error) say(`\n${isClear(error) ? error.message : error.stack}`)
		else say('\nStopping: finishing requests and mails in flight (Ctrl-C again to be quick)')
		const named = (...names: string[]) =>
			services
				.filter(({ name }) => names.includes(name))
				.map((service) => service.stop(hurry.signal))
		await Promise.all(named('API', 'Worker'))
		await Promise.all(named('Temporal'))
		await Promise.all(named('Postgres'))
		if (dataDir) forget(dataDir.pidFile('start'))
		if (!error) say('Stopped')
		process.exit(code)
	})().catch(() => process.exit(1))
	return stopping
}

function isClear(error: Error): boolean {
	return error instanceof StartError || error instanceof EnvironmentError
}

// One Ctrl-C arrives up to three times: from the terminal, from npm and from npm's shell.
function followSignals() {
	let first = 0
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
		process.on(signal, () => {
			if (first && Date.now() - first > 700) hurry.abort()
			first ||= Date.now()
			void stop(0)
		})
	process.on('uncaughtException', (error) => void stop(1, error))
}

// kill -9 of npm sends no signal to us, but our parent changes.
function followParent() {
	if (!process.env['npm_lifecycle_event']) return
	const parent = process.ppid
	setInterval(() => {
		if (process.ppid !== parent) void stop(0)
	}, 500).unref()
}
