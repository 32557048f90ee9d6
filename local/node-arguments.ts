import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// What the scripts of package.json give to node: one place says how our processes are run, in a
// deployment, by `npm start` and in the benchmarks.
export function nodeArguments(entry: string): string[] {
	const file = join(import.meta.dirname, '../package.json')
	const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: Record<string, string> }
	const script = Object.values(scripts).find((line) => line.endsWith(` ${entry}`))
	if (!script) throw new Error(`No script of package.json runs ${entry}`)
	// A .env is for deployments; here the environment is ours.
	return script
		.replace(/^.*?\bnode /, '')
		.split(' ')
		.filter((word) => !word.startsWith('--env-file'))
}
