// node build/run.ts ENTRY [arguments]: becomes that process, compiled if possible.
import { existsSync } from 'node:fs'
import { nodeArguments } from './processes.ts'

const [entry = '', ...words] = process.argv.slice(2)
const env = existsSync('.env') ? ['--env-file=.env'] : []
process.execve!(
	process.execPath,
	[process.execPath, ...env, ...nodeArguments(entry), ...words],
	process.env,
)
