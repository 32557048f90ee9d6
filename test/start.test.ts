import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { isFree } from '../local/ports.ts'
import { isAlive, remember, survivor, type Step } from '../local/processes.ts'
import { makeScratch } from '../local/scratch.ts'
import { startService, type Service } from '../local/service.ts'
import { startTemporal } from '../local/temporal.ts'
import { PortTaken } from '../local/terminal.ts'

// The parts of `npm start`; test/start/main.ts tries the whole.

const root = join(import.meta.dirname, '..')

function scratch(t: ExecutionContext) {
	const folder = makeScratch()
	t.teardown(() => rmSync(folder, { recursive: true, force: true }))
	return folder
}

async function until(isTrue: () => boolean | Promise<boolean>) {
	for (let tries = 0; tries < 400 && !(await isTrue()); tries++) await sleep(25)
}

test('a process that merely has the pid of ours is left alone', (t) => {
	const file = join(scratch(t), 'pid')
	remember(file, process.pid, 'ava')
	t.is(survivor(file), process.pid)
	writeFileSync(file, JSON.stringify({ pid: process.pid, startedAt: 1000, mark: '' }))
	t.is(survivor(file), undefined)
	remember(file, process.pid, 'another program')
	t.is(survivor(file), undefined)
	writeFileSync(file, '{"pid":')
	t.is(survivor(file), undefined)
})

test('a disk that is too small for the first start is refused before anything is installed', (t) => {
	const folder = scratch(t)
	for (const name of ['local/install.mjs', 'package-lock.json'])
		cpSync(join(root, name), join(folder, name), { recursive: true })
	const small = `import fs from 'node:fs'
		import { syncBuiltinESMExports } from 'node:module'
		fs.statfsSync = () => ({ bavail: 1400, bsize: 1e6 })
		syncBuiltinESMExports()
		await import('./local/install.mjs')`
	const { status, stdout, stderr } = spawnSync(
		process.execPath,
		['--input-type=module', '--eval', small],
		{ cwd: folder, encoding: 'utf8', env: { PATH: folder } },
	)
	t.is(status, 1)
	t.is(stdout, '')
	t.regex(stderr, /has 1400 MB free, dependencies need 1500 MB/)
})

test('if no way of getting a Temporal server works, one message names them all', (t) => {
	const folder = scratch(t)
	for (const name of ['build', 'local', 'package.json'])
		cpSync(join(root, name), join(folder, name), { recursive: true })
	symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
	mkdirSync(join(folder, 'bin'))
	symlinkSync(process.execPath, join(folder, 'bin', 'node'))
	const script = `import { temporalCli } from './local/temporal-programs.ts'
		await temporalCli().catch((error) => console.log(error.message))`
	const { stdout } = spawnSync(
		process.execPath,
		['--import=tsx', '--input-type=module-typescript', '--eval', script],
		{
			cwd: folder,
			encoding: 'utf8',
			// An unreachable proxy: no access to the internet, even where there is one.
			env: {
				PATH: join(folder, 'bin'),
				HTTPS_PROXY: 'http://127.0.0.1:9',
				ALL_PROXY: 'http://127.0.0.1:9',
			},
		},
	)
	for (const part of [
		'could be found or downloaded',
		'PATH',
		'.cache',
		'with pip',
		"SDK's",
		'go install',
		'TEMPORAL_ADDRESS',
	])
		t.true(stdout.includes(part), `${part} in: ${stdout}`)
})

test('a process of ours ends when its parent is killed', async (t) => {
	const folder = scratch(t)
	const file = join(folder, 'child')
	const parentWatch = new URL('../local/parent-watch.mjs', import.meta.url).href
	const child = `import { writeFileSync } from 'node:fs'
		writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`
	const flags = JSON.stringify([`--import=${parentWatch}`, '--input-type=module', '--eval', child])
	const parent = `import { spawn } from 'node:child_process'
		spawn(process.execPath, ${flags}, { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })`
	const killed = spawn(process.execPath, ['--input-type=module', '--eval', parent])
	await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '')
	const pid = Number(readFileSync(file, 'utf8'))
	t.true(isAlive(pid))
	killed.kill('SIGKILL')
	await until(() => !isAlive(pid))
	t.false(isAlive(pid))
})

function serviceOf(t: ExecutionContext, scripts: string[]) {
	const folder = scratch(t)
	const launches: string[] = []
	const kept: Service[] = []
	const started = startService({
		name: 'Example',
		steps: [['SIGKILL', 1000]] satisfies Step[],
		pidFile: join(folder, 'pid'),
		mark: 'node',
		log: join(folder, 'log'),
		keep: (service) => kept.push(service),
		launch() {
			launches.push(scripts[launches.length] ?? scripts.at(-1)!)
			return spawn(process.execPath, ['--eval', launches.at(-1)!])
		},
	})
	const stop = () => kept[0]!.stop(new AbortController().signal)
	t.teardown(stop)
	return { started, launches, service: kept[0]!, stop, pidFile: join(folder, 'pid') }
}

test('a service that crashes is started again', async (t) => {
	const { started, launches, service, stop, pidFile } = serviceOf(t, [
		'process.exit(1)',
		'setInterval(() => {}, 1000)',
	])
	await started
	service.settle()
	await until(() => launches.length === 2)
	t.is(launches.length, 2)
	t.truthy(survivor(pidFile))
	await stop()
	t.false(existsSync(pidFile))
})

test('a service that does not come up is given up during the start', async (t) => {
	const { service } = serviceOf(t, ['process.exit(7)'])
	await t.throwsAsync(() => service.failed, { message: /does not start \(exit 7\)/ })
})

test('another Temporal server on our port is not mistaken for ours', async (t) => {
	const folder = scratch(t)
	const options = { namespace: 'default', isDurable: false }
	const first = await startTemporal({ ...options, file: join(folder, 'first') })
	t.teardown(first.stop)
	const second = startTemporal({ ...options, file: join(folder, 'second'), port: first.port })
	await t.throwsAsync(second, { instanceOf: PortTaken })
})

// Runs `sh -c command` beside throw-away servers, and returns the port of their Postgres.
async function besideServers(t: ExecutionContext, command: string) {
	const child = spawn(
		process.execPath,
		['--import=tsx', 'test/run.ts', 'sh', '-c', `echo $DATABASE_URL; ${command}`],
		{ cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
	)
	t.teardown(() => child.kill())
	const [line] = (await child.stdout.take(1).toArray()) as Buffer[]
	return { child, port: Number(/:(\d+)\/postgres/.exec(String(line))?.[1]) }
}

test.serial('throw-away servers stop when their run is stopped', async (t) => {
	const { child, port } = await besideServers(t, 'exec sleep 30')
	t.false(await isFree(port))
	child.kill('SIGTERM')
	await until(() => isFree(port))
	t.true(await isFree(port))
})

test.serial('throw-away servers of a killed run are ended by the next', async (t) => {
	const { child, port } = await besideServers(t, 'exec sleep 15')
	child.kill('SIGKILL')
	t.false(await isFree(port))
	await besideServers(t, 'true')
	t.true(await isFree(port))
})
