import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { searchAttributes } from '../db/outbox/search-attributes.ts'
import { anyPort } from './ports.ts'
import { end, type Step } from './processes.ts'
import { temporalCli } from './temporal-programs.ts'
import { PortTaken, reasonIn, StartError } from './terminal.ts'

export interface TemporalOptions {
	file: string // the SQLite database
	log?: string // the server's output; `${file}.log` by default
	namespace: string
	isDurable: boolean
	port?: number
	uiPort?: number // undefined: no Web UI
}

export interface Temporal {
	address: string
	port: number
	launch: () => ChildProcess
	ready: (child: ChildProcess) => Promise<void>
}

export const stopTemporal: Step[] = [
	['SIGTERM', 8000],
	['SIGKILL', 2000],
]

// By default the server polls 20 times a second, which delays every task of a burst by some 40 ms.
const settings = {
	'history.transferProcessorMaxPollRPS': 5000,
	'history.transferProcessorMaxPollHostRPS': 5000,
	'history.timerProcessorMaxPollRPS': 5000,
	'history.timerProcessorMaxPollHostRPS': 5000,
	'matching.numTaskqueueReadPartitions': 1,
	'matching.numTaskqueueWritePartitions': 1,
	'matching.enableFairness': true,
	'frontend.MaxConcurrentBatchOperationPerNamespace': 4,
	'worker.batcherRPS': 500,
}

// Prepares a dev server that can be started repeatedly, always on the same port.
export async function prepareTemporal(options: TemporalOptions): Promise<Temporal> {
	const program = await temporalCli()
	const port = options.port ?? (await anyPort())
	const address = `127.0.0.1:${port}`
	const log = options.log ?? `${options.file}.log`
	let logStart = 0
	return {
		address,
		port,
		launch() {
			const output = openSync(log, 'a', 0o600)
			logStart = fstatSync(output).size
			const umask = process.umask(0o077) // otherwise every local user could read its data
			const child = spawn(program, ['server', 'start-dev', ...flags(options, port)], {
				detached: true, // Ctrl-C reaches only our process, which stops Temporal after its workers
				stdio: ['ignore', output, output],
			})
			process.umask(umask)
			closeSync(output)
			return child
		},
		async ready(child) {
			const output = () => readFileSync(log).subarray(logStart).toString()
			const question = ['operator', 'namespace', 'describe', `--namespace=${options.namespace}`]
			const ask = () => spawn(program, [...question, `--address=${address}`], { stdio: 'ignore' })
			// Our server's log says that it listens; another server on the same port would answer as well.
			const isOurs = () => new RegExp(`Server: .*:${port}\\b`).test(output())
			const problem = await waitUntilReady(child, ask, isOurs)
			if (!problem) return
			if (child.pid) await end(child.pid, stopTemporal)
			throw explain(problem, output(), options.file, log)
		},
	}
}

// The throw-away variant in one call, for tests and benchmarks.
export async function startTemporal(options: TemporalOptions) {
	const temporal = await prepareTemporal(options)
	const child = temporal.launch()
	await temporal.ready(child)
	return { ...temporal, pid: child.pid!, stop: () => end(child.pid!, stopTemporal) }
}

// Exported for the test that compares docker-compose.yml with it.
export function flags({ file, namespace, isDurable, uiPort }: TemporalOptions, port: number) {
	const attributes = Object.entries(searchAttributes).map(
		([name, type]) => `--search-attribute=${name}=${type}`,
	)
	const tuning = Object.entries(settings).map(
		([name, value]) => `--dynamic-config-value=${name}=${value}`,
	)
	return [
		'--ip=127.0.0.1',
		`--port=${port}`,
		uiPort ? `--ui-port=${uiPort}` : '--headless',
		'--log-level=warn',
		`--namespace=${namespace}`,
		`--db-filename=${file}`,
		'--sqlite-pragma=journal_mode=WAL',
		// NORMAL survives a power cut, OFF only a kill.
		`--sqlite-pragma=synchronous=${isDurable ? 'NORMAL' : 'OFF'}`,
		...attributes,
		...tuning,
	]
}

// Returns an error text, or nothing once the namespace exists.
async function waitUntilReady(child: ChildProcess, ask: () => ChildProcess, isOurs: () => boolean) {
	let failure: Error | undefined
	child.once('error', (error) => (failure = error))
	for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(100)) {
		if (failure) return failure.message
		if (child.exitCode !== null || child.signalCode) return 'it ended silently'
		if (!isOurs()) continue
		const asked = ask()
		if ((await new Promise((done) => asked.once('close', done))) === 0) return undefined
	}
	return 'it did not answer within a minute'
}

function explain(problem: string, text: string, file: string, log: string) {
	const Kind = /address already in use/.test(text) ? PortTaken : StartError
	const reason = reasonIn(text) || problem
	return new Kind(`Temporal does not start (its log is ${log}):\n${reason}\n${advice(text, file)}`)
}

function advice(text: string, file: string) {
	if (/malformed|not a database|disk image/.test(text))
		return `Its data is damaged. Delete ${file}*: what is active is rebuilt from Postgres.`
	return /no space|disk is full/i.test(text) ? 'The disk is full.' : ''
}
