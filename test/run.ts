// Runs a command beside throw-away servers: node --import=tsx test/run.ts ava test/contacts.test.ts
import { spawn } from 'node:child_process'
import { withServers } from '../local/servers.ts'
import { StartError } from '../local/terminal.ts'

const [command = 'ava', ...args] = process.argv.slice(2)

try {
	process.exitCode = await withServers(
		(servers, signal) =>
			new Promise<number>((done, fail) => {
				const child = spawn(command, args, {
					stdio: 'inherit',
					env: {
						...process.env,
						DATABASE_URL: servers.databaseUrl,
						TEMPORAL_ADDRESS: servers.temporalAddress,
						TEMPORAL_NAMESPACE: 'default',
						TEMPORAL_TEST_SERVER_PATH: servers.testServerPath ?? '',
					},
				})
				signal.addEventListener('abort', () => child.kill('SIGTERM'))
				child.once('error', fail)
				child.once('exit', (code) => done(code ?? 1))
			}),
	)
} catch (error) {
	process.exitCode = 1
	if (error instanceof StartError) console.error(error.message)
	else if ((error as Error).name !== 'AbortError') throw error
}
