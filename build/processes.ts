import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildFolder } from './freshness.ts'
import { root } from './root.ts'

// The Node options of our processes, for deployments, `npm start` and the benchmarks.
const flags: Record<string, string[]> = {
	// Requests create much short-lived garbage. A small nursery still fits the CPU cache when it is
	// collected.
	'api/main.ts': ['--max-semi-space-size=8', '--max-old-space-size=1536'],
	'activities/worker.ts': ['--max-semi-space-size=32', '--max-old-space-size=512'],
	'db/migrate.ts': [],
	'db/operator.ts': [],
	'local/start.ts': [],
}

export const entries = Object.keys(flags)

/** Node's arguments: the compiled file if the build matches the sources, else the source. */
export function nodeArguments(entry: string): string[] {
	if (!flags[entry]) throw new Error(`${entry} is none of our processes: ${entries.join(', ')}`)
	const compiled = join(buildFolder(), entry.replace(/\.ts$/, '.js'))
	return existsSync(compiled)
		? [...flags[entry], compiled]
		: [...flags[entry], '--import=tsx', join(root, entry)]
}
