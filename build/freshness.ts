import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

/** All folders that are compiled or copied. */
export const folders = ['activities', 'api', 'build', 'db', 'local', 'mail', 'outside', 'workflows']
/** What the console is built from. */
export const consoleFolders = ['client', 'console']
export const settings = ['package.json', 'package-lock.json', 'tsconfig.json']

export const builds = join(root, 'dist')

/**
 * The folder for a build of the current sources, named by their digest. File times don't work, because a
 * checkout changes them. Processes of an earlier build keep using theirs, and may load parts of it later.
 * An image contains one build and no sources.
 */
export function buildFolder() {
	const hasSources = existsSync(join(root, 'api'))
	return join(builds, hasSources ? digestOfSources().slice(0, 16) : readdirSync(builds)[0]!)
}

export const isFresh = () => existsSync(buildFolder())

export const sourceFiles = () => filesOf(folders)

/** Packing the client writes its own build to `client/dist`. */
const packed = join(root, 'client', 'dist')

const filesOf = (names: string[]) =>
	names.flatMap((folder) =>
		readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
			.filter((file) => file.isFile() && !file.parentPath.startsWith(packed))
			.map((file) => join(file.parentPath, file.name).slice(root.length + 1)),
	)

function digestOfSources() {
	const digest = createHash('sha256')
	for (const name of [...filesOf([...folders, ...consoleFolders]).toSorted(), ...settings])
		digest
			.update(`${name}\0`)
			.update(readFileSync(join(root, name)))
			.update('\0')
	return digest.digest('hex')
}
