import { execFile } from 'node:child_process'
import {
	cpSync,
	globSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	readdirSync,
	rmSync,
	writeFileSync,
} from 'node:fs'
import { randomUUID } from 'node:crypto'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { prepareStack } from '../bench/stack.ts'
import { until } from '../bench/load.ts'
import { buildFolder, consoleFolders, folders, isFresh, settings } from '../build/freshness.ts'
import { isUnbundled } from '../build/packages.ts'
import { nodeArguments } from '../build/processes.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

test.before('npm run build', async (t) => {
	t.timeout(120_000)
	if (!isFresh()) await run(process.execPath, ['build/main.ts'], { cwd: root })
})

test('a build migrates, and its API and worker become healthy without helpers', async (t) => {
	const { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress } = process.env
	const name = `built_${randomUUID()}`
	const env = { ...process.env, DATABASE_URL: databaseUrl!.replace(/[^/]*$/, name) }
	await run(process.execPath, ['build/run.ts', 'db/migrate.ts'], { cwd: root, env })

	const servers = { databaseUrl: databaseUrl!, temporalAddress: temporalAddress! }
	t.regex(nodeArguments('api/main.ts').at(-1)!, /\/dist\/\w+\/api\/main\.js$/)
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local', LOG_LEVEL: 'info' })
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	t.true(await until(async () => (await health(stack.apiUrl)) === 'ok', 20_000))
	for (const { pid } of [stack.api, stack.worker]) t.deepEqual(childrenOf(pid()), [])
})

async function health(apiUrl: string) {
	const answer = await fetch(`${apiUrl}/health`)
	return ((await answer.json()) as { status: string }).status
}

const childrenOf = (pid: number) =>
	globSync(`/proc/${pid}/task/*/children`)
		.map((file) => readFileSync(file, 'utf8'))
		.filter((children) => children !== '')

test('a build counts only while the sources are the same', async (t) => {
	const folder = mkdtempSync(join(tmpdir(), 'tempost-build-'))
	t.teardown(() => rmSync(folder, { recursive: true }))
	for (const name of [...folders, ...consoleFolders, ...settings])
		cpSync(join(root, name), join(folder, name), { recursive: true })
	mkdirSync(join(folder, 'dist', basename(buildFolder())), { recursive: true })
	const script = `import { isFresh } from './build/freshness.ts'; console.log(isFresh())`
	const ask = async () => {
		const words = ['--input-type=module', '--eval', script]
		return (await run(process.execPath, words, { cwd: folder })).stdout.trim()
	}
	t.is(await ask(), 'true')
	const file = join(folder, 'db/migrate.ts')
	const source = readFileSync(file, 'utf8')
	writeFileSync(file, `${source}// changed\n`)
	t.is(await ask(), 'false')
	writeFileSync(file, source)
	t.is(await ask(), 'true')
	rmSync(join(folder, 'api'), { recursive: true })
	t.is(await ask(), 'true', 'an image holds no sources')
})

test('an image installs every package that its build imports', (t) => {
	const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
	const dist = buildFolder()
	const found = new Set<string>()
	for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
		if (!name.endsWith('.js') || /^(local|workflows|api\/mailbox)\//.test(name)) continue
		for (const [, from] of readFileSync(join(dist, name), 'utf8').matchAll(
			/^import .*?from "([^".][^"]*)";$/gm,
		))
			if (!isBuiltin(from!)) found.add(from!)
	}
	t.true(found.has('@temporalio/client'))
	for (const name of found) {
		const owner = name.split('/', name.startsWith('@') ? 2 : 1).join('/')
		t.true(isUnbundled(owner) && owner in dependencies, name)
	}
})
