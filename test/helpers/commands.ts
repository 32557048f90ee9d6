import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { setupClient } from './client.ts'

export const program = join(import.meta.dirname, '../../client/cli/main.ts')

const tsx = import.meta.resolve('tsx')

/** The command line as its own process in the folder `home`, connected to a real API. */
export async function setupCommands(
	t: ExecutionContext,
	options: Parameters<typeof setupClient>[1] = {},
) {
	const all = await setupClient(t, options)
	const { url, secretKey, publicKey } = all
	const env = {
		...process.env,
		TEMPOST_URL: url,
		TEMPOST_SECRET_KEY: secretKey,
		TEMPOST_PUBLIC_KEY: publicKey,
	}
	const home = mkdtempSync(join(tmpdir(), 'tempost-commands-'))
	t.teardown(() => rmSync(home, { recursive: true }))
	function start(...args: string[]) {
		const child = spawn(process.execPath, [`--import=${tsx}`, program, ...args], {
			env,
			cwd: home,
		})
		t.teardown(() => child.kill('SIGKILL'))
		const printed = { out: '', err: '' }
		child.stdout.on('data', (data) => (printed.out += data))
		child.stderr.on('data', (data) => (printed.err += data))
		const ended = once(child, 'close').then(([code]) => code as number)
		return { child, printed, ended }
	}
	async function run(args: string[], input = '') {
		const { child, printed, ended } = start(...args)
		child.stdin.end(input)
		return { code: await ended, ...printed }
	}
	return { ...all, env, home, start, run }
}

export const json = (output: string) => JSON.parse(output) as Record<string, unknown>
export const lines = (output: string) => output.trim().split('\n').map(json)
