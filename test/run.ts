// Runs a command beside throw-away servers: node --import=tsx test/run.ts ava test/contacts.test.ts
import { execFile, spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isFresh } from '../build/freshness.ts'
import { root } from '../build/root.ts'
import { withServers } from '../local/servers.ts'
import { StartError } from '../local/terminal.ts'
import { compileTests } from './compile.ts'

const [command = 'ava', ...args] = process.argv.slice(2)

try {
	process.exitCode = await withServers(async (servers, signal) => {
		const env = {
			DATABASE_URL: servers.databaseUrl,
			TEMPORAL_ADDRESS: servers.temporalAddress,
			TEMPORAL_NAMESPACE: 'default',
			TEMPORAL_TEST_SERVER_PATH: servers.testServerPath ?? '',
		}
		return command === 'ava' ? runTests(signal, env) : run(signal, env)
	})
} catch (error) {
	process.exitCode = 1
	if (error instanceof StartError) console.error(error.message)
	else if ((error as Error).name !== 'AbortError') throw error
}

async function runTests(signal: AbortSignal, env: Record<string, string>) {
	const named = namedTests()
	const [compiled] = await Promise.all([
		compileTests(named ?? globSync('test/**/*.test.ts', { cwd: root })),
		// The API and workers that tests start are up sooner.
		(named && !named.some((file) => file.includes('/console'))) ||
			isFresh() ||
			promisify(execFile)(process.execPath, ['build/main.ts'], { cwd: root }),
	])
	const cache = join(compiled.folder, 'cache')
	try {
		return await run(signal, { ...env, COMPILED_TESTS: compiled.folder, NODE_COMPILE_CACHE: cache })
	} finally {
		compiled.remove()
	}
}

/** None unless all are named as files: AVA may choose others by other patterns. */
function namedTests() {
	const files = args.map((arg) => arg.replace(/:[\d,-]+$/, '')).filter((arg) => arg.endsWith('.ts'))
	const areFiles = files.length > 0 && files.every((file) => existsSync(join(root, file)))
	return areFiles ? files : undefined
}

function run(signal: AbortSignal, env: Record<string, string>) {
	return new Promise<number>((done, fail) => {
		const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } })
		signal.addEventListener('abort', () => child.kill('SIGTERM'))
		child.once('error', fail)
		child.once('exit', (code) => done(code ?? 1))
	})
}
