import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopPostgres } from './cluster.ts'
import { canEnter, postgresOwner } from './postgres-home.ts'
import { endSurvivor, remember, survivor } from './processes.ts'
import { stopTemporal } from './temporal.ts'

const prefix = 'tempost-servers-'

// Postgres' own user has to get there when we are root, which TMPDIR need not allow.
function scratchPlace() {
	const owner = postgresOwner()
	const places = [tmpdir(), '/tmp', '/var/tmp']
	return places.find((place) => existsSync(place) && canEnter(place, owner)) ?? tmpdir()
}

// A folder for throw-away servers; whoever makes it removes it.
export function makeScratch() {
	const folder = mkdtempSync(join(scratchPlace(), prefix))
	chmodSync(folder, 0o711)
	remember(join(folder, 'owner'), process.pid, '')
	return folder
}

// Ends the servers of runs that were killed before they could clean up.
export async function sweepScratch() {
	const place = scratchPlace()
	for (const name of readdirSync(place).filter((entry) => entry.startsWith(prefix))) {
		const folder = join(place, name)
		const file = (entry: string) => join(folder, entry)
		const stat = statSync(folder, { throwIfNoEntry: false })
		if (!stat || stat.uid !== process.getuid?.() || survivor(file('owner'))) continue
		// Another run is just making it.
		if (!existsSync(file('owner')) && Date.now() - stat.mtimeMs < 60_000) continue
		await endSurvivor(file('postgres.pid'), stopPostgres)
		await endSurvivor(file('temporal.pid'), stopTemporal)
		rmSync(folder, { recursive: true, force: true })
	}
}
