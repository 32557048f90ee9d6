import { spawn, spawnSync } from 'node:child_process'
import {
	accessSync,
	chownSync,
	constants,
	existsSync,
	mkdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder, requireSpace, type Owner } from './postgres-home.ts'
import { commandOf, end, isAlive, type Step } from './processes.ts'
import { say, StartError } from './terminal.ts'

const major = '18'

// A fast shutdown first: it ends sessions and writes a checkpoint, so the next start needs no recovery.
export const stopPostgres: Step[] = [
	['SIGINT', 20_000],
	['SIGQUIT', 5000],
	['SIGKILL', 2000],
]

interface Cluster {
	folder: string
	programs: string
	owner: Owner
	password: string
	isPasswordNew?: boolean
	isDurable: boolean
}

// Prepares a cluster for starting: creates it if there is none, and ends its stale postmaster.
export async function prepareCluster(cluster: Cluster) {
	const { folder } = cluster
	mkdirSync(dirname(folder), { recursive: true })
	if (!existsSync(folder)) return create(cluster)
	requireAccess(cluster)
	if (!existsSync(join(folder, 'PG_VERSION'))) return create(cluster)
	const found = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
	if (found !== major)
		throw new StartError(
			`The data in ${folder} was written by Postgres ${found}; this is Postgres ${major}.\n` +
				'Dump it with the old version and restore it, or set another DATA_DIR.',
		)
	requireSpace(folder, 100)
	await endStalePostmaster(folder)
	if (cluster.isPasswordNew) await setPassword(cluster)
}

function requireAccess({ folder, owner }: Cluster) {
	const { uid, mode } = statSync(folder)
	const wanted = owner.uid ?? process.getuid?.() ?? uid
	if (uid === wanted && (mode & 0o077) === 0) return
	// Postgres allows only 0700 and 0750.
	if (uid === wanted && (mode & 0o027) === 0) return
	throw new StartError(
		uid === wanted
			? `Postgres refuses ${folder}: others may enter it. Run chmod 700 on it.`
			: `Postgres refuses ${folder}: it belongs to the user with id ${uid} and Postgres would run ` +
					`as ${wanted}.\nStart as the user who owns it, or set another DATA_DIR.`,
	)
}

// Created under another name and renamed when complete, so that an interrupted start leaves no half-made
// database.
async function create({ folder, programs, owner, password, isDurable }: Cluster) {
	const parent = dirname(folder)
	try {
		accessSync(parent, constants.W_OK)
	} catch {
		throw new StartError(`This user may not write to ${parent}: set another DATA_DIR.`)
	}
	requireSpace(parent, 300)
	const partial = `${folder}.partial`
	makeFolder(partial, owner)
	const passwordFile = `${folder}.password`
	writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
	if (owner.uid !== undefined) chownSync(passwordFile, owner.uid, owner.gid)
	const initdb = spawn(
		join(programs, 'initdb'),
		[
			`--pgdata=${partial}`,
			'--username=postgres',
			`--pwfile=${passwordFile}`,
			`--auth=${isDurable ? 'scram-sha-256' : 'password'}`,
			'--encoding=UTF8',
			// The same sort order on every system, without needing a locale.
			'--locale=C',
			'--locale-provider=builtin',
			'--builtin-locale=C.UTF-8',
			...(isDurable ? [] : ['--no-sync', '--no-instructions']),
		],
		{ ...owner, cwd: '/', detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
	)
	let output = ''
	for (const stream of [initdb.stdout, initdb.stderr])
		stream.on('data', (chunk) => (output += chunk))
	const code = await new Promise<number | string | null>((done) => {
		initdb.once('error', (error) => done(error.message))
		initdb.once('close', done)
	})
	rmSync(passwordFile)
	if (code !== 0) {
		rmSync(partial, { recursive: true, force: true })
		throw new StartError(`A database could not be created in ${folder}:\n${output.trim() || code}`)
	}
	rmSync(folder, { recursive: true, force: true })
	renameSync(partial, folder)
}

// After kill -9 of its parent, Postgres keeps running and keeps its folder locked.
async function endStalePostmaster(folder: string) {
	const file = join(folder, 'postmaster.pid')
	if (!existsSync(file)) return
	const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
	if (pid && commandOf(pid).includes(folder) && isAlive(pid)) {
		say(`Ending the Postgres that an earlier start left behind (process ${pid})`)
		await end(pid, stopPostgres)
	}
	// The backends of a killed postmaster notice its death and end within moments.
	for (let tries = 0; existsSync(`/proc/${pid}`) && !isAlive(pid) && tries < 20; tries++)
		await sleep(50)
	// The pid may belong to another process by now, or to a zombie; Postgres would take either for a
	// postmaster. Postgres also checks by shared memory that no old backend uses the data.
	rmSync(file, { force: true })
}

// The file with our secrets was lost while the data was kept. The owner of the files may set the password
// again.
async function setPassword({ folder, programs, owner, password }: Cluster) {
	const { status, stderr } = spawnSync(
		join(programs, 'postgres'),
		['--single', '-D', folder, 'postgres'],
		{ ...owner, cwd: '/', input: `alter user postgres password '${password}'\n`, encoding: 'utf8' },
	)
	if (status !== 0)
		throw new StartError(`The password of Postgres could not be changed:\n${stderr}`)
}
