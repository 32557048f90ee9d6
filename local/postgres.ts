import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { prepareCluster, stopPostgres } from './cluster.ts'
import { postgresFolder, postgresOwner, postgresPrograms } from './postgres-home.ts'
import { anyPort } from './ports.ts'
import { end } from './processes.ts'
import { PortTaken, reasonIn, StartError } from './terminal.ts'

export interface PostgresOptions {
	folder: string // the wanted place of the data
	log?: string // Postgres' output; `${folder}.log` by default
	password: string
	isPasswordNew?: boolean
	isDurable: boolean
	port?: number
}

export interface Postgres {
	url: string
	port: number
	folder: string
	launch: () => ChildProcess
	ready: (child: ChildProcess) => Promise<void>
}

// Prepares a cluster that can be started repeatedly, always on the same port.
export async function preparePostgres(options: PostgresOptions): Promise<Postgres> {
	const owner = postgresOwner()
	const programs = await postgresPrograms(owner)
	const folder = postgresFolder(options.folder, owner)
	await prepareCluster({ ...options, folder, owner, programs })
	const port = options.port ?? (await anyPort())
	const log = options.log ?? `${options.folder}.log`
	const settings = { ...base(), ...(options.isDurable ? durable() : throwAway), port: String(port) }
	const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
	const url = `postgresql://postgres:${options.password}@127.0.0.1:${port}/postgres`
	let logStart = 0
	return {
		url,
		port,
		folder,
		launch() {
			const output = openSync(log, 'a', 0o600)
			logStart = fstatSync(output).size
			const child = spawn(join(programs, 'postgres'), ['-D', folder, ...flags], {
				...owner,
				cwd: '/',
				detached: true, // Ctrl-C reaches only our process, which stops Postgres last
				stdio: ['ignore', output, output],
			})
			closeSync(output)
			return child
		},
		ready: (child) => waitUntilReady(child, url, log, logStart),
	}
}

// The throw-away variant in one call, for tests and benchmarks.
export async function startPostgres(options: Omit<PostgresOptions, 'password'>) {
	const postgres = await preparePostgres({ ...options, password: randomBytes(8).toString('hex') })
	const child = postgres.launch()
	await postgres.ready(child)
	return { ...postgres, pid: child.pid!, stop: () => end(child.pid!, stopPostgres) }
}

function base() {
	return {
		listen_addresses: '127.0.0.1',
		unix_socket_directories: '', // socket paths may not be longer than 107 bytes
		max_connections: '300',
		jit: 'off',
		timezone: 'UTC',
		log_min_messages: 'warning',
		// Details and statements contain people's addresses.
		log_error_verbosity: 'terse',
		log_min_error_statement: 'panic',
		max_wal_size: '2GB',
	}
}

function durable() {
	const quarter = Math.floor(totalmem() / 4 / 1024 ** 2)
	return {
		shared_buffers: `${Math.min(512, Math.max(64, Math.floor(quarter / 2)))}MB`,
		effective_cache_size: `${Math.max(256, quarter * 2)}MB`,
		work_mem: '16MB',
		maintenance_work_mem: '128MB',
		random_page_cost: '1.1',
	}
}

const throwAway = {
	shared_buffers: '128MB',
	fsync: 'off',
	synchronous_commit: 'off',
	full_page_writes: 'off',
	wal_level: 'minimal',
	max_wal_senders: '0',
	max_wal_size: '512MB',
	autovacuum_naptime: '10s',
}

async function waitUntilReady(child: ChildProcess, url: string, log: string, logStart: number) {
	let failure: Error | undefined
	child.once('error', (error) => (failure = error))
	for (const deadline = Date.now() + 60_000; ; await sleep(25)) {
		const client = new pg.Client({ connectionString: url })
		client.on('error', () => {})
		try {
			await client.connect()
			return await client.end()
		} catch (error) {
			if (failure) throw failure
			if (child.exitCode !== null || child.signalCode) throw explain(log, logStart)
			// 28P01: another Postgres took the port between our check and our start.
			if (Date.now() > deadline || (error as { code?: string }).code === '28P01') {
				await end(child.pid!, stopPostgres)
				throw explain(log, logStart, error as Error)
			}
		}
	}
}

function explain(log: string, start: number, error?: Error) {
	const text = readFileSync(log).subarray(start).toString().trim()
	const reason = reasonIn(text) || error?.message || 'it ended silently'
	const isPortTaken = /could not bind|Address already in use/.test(text)
	const Kind = isPortTaken ? PortTaken : StartError
	return new Kind(`Postgres does not start (its log is ${log}):\n${reason}\n${advice(text)}`)
}

function advice(text: string) {
	if (/[Pp]ermission denied|invalid permissions|wrong ownership/.test(text))
		return 'It refuses the data folder: start as the user who owns it, or set another DATA_DIR.'
	if (/No space left/.test(text)) return 'The disk is full.'
	if (/shared memory|could not create semaphores/.test(text))
		return 'The system gives it too little shared memory or too few semaphores.'
	return ''
}
