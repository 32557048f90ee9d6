import {
	chmodSync,
	existsSync,
	mkdtempSync,
	readdirSync,
	rmSync,
	statfsSync,
	statSync,
} from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopPostgres } from './cluster.ts'
import { canEnter, postgresOwner } from './postgres-home.ts'
import { endSurvivor, remember, survivor } from './processes.ts'
import { stopTemporal } from './temporal.ts'

const prefix = 'tempost-servers-'

const memory = '/dev/shm'
const memoryWanted = 4 * 1024 ** 3

// If we are root, Postgres' user must be able to reach this place, which TMPDIR may not allow.
function scratchPlace() {
	const owner = postgresOwner()
	const places = [tmpdir(), '/tmp', '/var/tmp']
	return places.find((place) => existsSync(place) && canEnter(place, owner)) ?? tmpdir()
}

// A place for a thousand temporary databases: creating and dropping them is ten times as fast in a file
// system in memory.
function hasMemory() {
	if (!existsSync(memory) || !canEnter(memory, postgresOwner())) return false
	const { bavail, bsize } = statfsSync(memory)
	return bavail * bsize >= memoryWanted && freemem() >= memoryWanted
}

// Makes a folder for throw-away servers; the caller removes it.
export function makeScratch({ isInMemory = false } = {}) {
	const folder = mkdtempSync(join(isInMemory && hasMemory() ? memory : scratchPlace(), prefix))
	chmodSync(folder, 0o711)
	remember(join(folder, 'owner'), process.pid, '')
	return folder
}

// Ends the servers of runs that were killed before they could clean up.
export async function sweepScratch() {
	const places = [memory, scratchPlace()].filter((place) => existsSync(place))
	for (const folder of places.flatMap(scratchFolders)) {
		const file = (entry: string) => join(folder, entry)
		const stat = statSync(folder, { throwIfNoEntry: false })
		if (!stat || stat.uid !== process.getuid?.() || survivor(file('owner'))) continue
		// Another run is creating it at this moment.
		if (!existsSync(file('owner')) && Date.now() - stat.mtimeMs < 60_000) continue
		await endSurvivor(file('postgres.pid'), stopPostgres)
		await endSurvivor(file('temporal.pid'), stopTemporal)
		rmSync(folder, { recursive: true, force: true })
	}
}

const scratchFolders = (place: string) =>
	readdirSync(place)
		.filter((entry) => entry.startsWith(prefix))
		.map((entry) => join(place, entry))
