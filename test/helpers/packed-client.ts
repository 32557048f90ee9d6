import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** A folder in which `@tempost/client` is installed as it is published. React is found in ours. */
export async function installClient(t: ExecutionContext) {
	mkdirSync(join(root, '.cache'), { recursive: true })
	const folder = mkdtempSync(join(root, '.cache', 'client-'))
	t.teardown(() => rmSync(folder, { recursive: true, force: true }))
	const place = join(folder, 'node_modules/@tempost/client')
	mkdirSync(place, { recursive: true })
	copyFileSync(join(root, 'client/package.json'), join(place, 'package.json'))
	await tsc('-p', join(root, 'client/tsconfig.json'), '--outDir', join(place, 'dist'))
	const bin = join(folder, 'node_modules/.bin')
	mkdirSync(bin)
	symlinkSync(join(place, 'dist/cli/main.js'), join(bin, 'tempost'))
	await run('chmod', ['+x', join(place, 'dist/cli/main.js')])
	writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
	return { folder, bin }
}

export const tsc = async (...args: string[]) =>
	run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...args]).catch(
		({ stdout }: { stdout: string }) => {
			throw new Error(stdout)
		},
	)
