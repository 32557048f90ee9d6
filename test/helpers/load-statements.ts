import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Importing these would run them. */
const programs = /^(migrate|operator|migrations\/.*|large-mail-thread)$/

/** Imports every file that defines statements. */
export async function loadStatements() {
	for (const name of filesIn('../../db/')) await import(`../../db/${name}.ts`)
	for (const name of filesIn('../../activities/delivery/'))
		await import(`../../activities/delivery/${name}.ts`)
}

const filesIn = (folder: string) =>
	globSync('**/*.ts', { cwd: fileURLToPath(new URL(folder, import.meta.url)) })
		.map((file) => file.slice(0, -'.ts'.length))
		.filter((name) => !programs.test(name))
