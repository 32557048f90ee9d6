import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stopTemporal } from './temporal.ts'
import { endSurvivor, remember, survivor, type Step } from './processes.ts'
import { say, StartError } from './terminal.ts'

// The keys of the project from the first start. The database stores only their digest.
export interface FirstProject {
	projectId: string
	publicKey: string
	secretKey: string
	email: string
	password: string
}

// null: it was replaced, and only its digest is stored, or the project has no owner.
export interface KnownProject extends Pick<FirstProject, 'projectId' | 'publicKey'> {
	secretKey: string | null
	email: string | null
	password: string | null
}

interface Secrets {
	postgresPassword: string
	sessionSecret: string
	project?: FirstProject
}

export type DataDir = ReturnType<typeof openDataDir>

// Everything that `npm start` stores. Only one start at a time may have it open.
export function openDataDir(folder: string) {
	const file = (...names: string[]) => join(folder, ...names)
	try {
		// If we are root, Postgres runs as another user, who needs to pass through this folder.
		mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
		for (const name of ['pids', 'logs']) mkdirSync(file(name), { recursive: true, mode: 0o700 })
		takeLock(file('pids', 'start'), folder)
	} catch (error) {
		if (error instanceof StartError) throw error
		throw new StartError(
			`DATA_DIR ${folder} cannot be used (${(error as Error).message}).\n` +
				'Start as the user who owns it, or set another DATA_DIR.',
		)
	}
	const { secrets, isNew } = openSecrets(file('secrets.json'))
	return {
		folder,
		file,
		pidFile: (name: string) => file('pids', name),
		log: (name: string) => file('logs', `${name}.log`),
		secrets,
		areSecretsNew: isNew,
		rememberProject(project: FirstProject) {
			secrets.project = project
			writeSecretly(file('secrets.json'), secrets)
		},
	}
}

function takeLock(lock: string, folder: string) {
	const other = survivor(lock)
	if (other && other !== process.pid)
		throw new StartError(
			`Tempost already runs with DATA_DIR ${folder} (process ${other}).\n` +
				'Stop it, or set another DATA_DIR and PORT to run a second one beside it.',
		)
	remember(lock, process.pid, 'local/start.')
}

function openSecrets(file: string) {
	const found = readJson<Secrets>(file)
	if (found?.postgresPassword && found.sessionSecret) return { secrets: found, isNew: false }
	const secrets: Secrets = {
		postgresPassword: randomBytes(24).toString('hex'),
		sessionSecret: randomBytes(32).toString('hex'),
	}
	writeSecretly(file, secrets)
	return { secrets, isNew: true }
}

export function readJson<T>(file: string) {
	try {
		return JSON.parse(readFileSync(file, 'utf8')) as T
	} catch (error) {
		if ((error as { code?: string }).code === 'ENOENT') return undefined
		throw new StartError(`${file} cannot be read: ${(error as Error).message}`)
	}
}

// Writes the whole file or nothing, readable only by us.
export function writeSecretly(file: string, content: object) {
	writeFileSync(`${file}.new`, `${JSON.stringify(content, null, '\t')}\n`, { mode: 0o600 })
	renameSync(`${file}.new`, file)
}

const stopNode: Step[] = [
	['SIGTERM', 10_000],
	['SIGKILL', 2000],
]

// After kill -9 of `npm start` its children may still run. A second set of them would fight over the ports
// and Temporal's file. (Postgres is found by its postmaster.pid.)
export async function endLeftovers({ pidFile }: DataDir) {
	const found = await Promise.all([
		endSurvivor(pidFile('api'), stopNode),
		endSurvivor(pidFile('worker'), stopNode),
		endSurvivor(pidFile('temporal'), stopTemporal),
	])
	if (found.some(Boolean)) say('Ended processes that an earlier start left running')
}

// Starts a new log file when this one has grown large, and keeps the last one beside it.
export function turnLog(file: string) {
	const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 }
	if (size > 20_000_000) renameSync(file, `${file}.1`)
}
