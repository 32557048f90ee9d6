import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import * as esbuild from 'esbuild'
import { tsc } from './helpers/packed-client.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const mostBytes = 15 * 1024

/** The package as `npm pack` makes it, unpacked far from this repository and its packages. */
async function unpacked(t: ExecutionContext) {
	const folder = mkdtempSync(join(tmpdir(), 'tempost-client-'))
	t.teardown(() => {
		rmSync(folder, { recursive: true, force: true })
		rmSync(join(root, 'client/dist'), { recursive: true, force: true })
	})
	const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}` }
	await run('npm', ['pack', '--pack-destination', folder], { cwd: join(root, 'client'), env })
	const [file] = readdirSync(folder)
	const place = join(folder, 'node_modules/@tempost/client')
	mkdirSync(place, { recursive: true })
	await run('tar', ['-xzf', join(folder, file!), '-C', place, '--strip-components=1'])
	writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
	return { folder, place }
}

const program = `
import { Tempost, TempostError, webhooks } from '@tempost/client'

const tempost = new Tempost({ url: 'http://localhost:1', secretKey: 'sk', retries: 0 })
const error = await tempost.contacts.list().catch((thrown: unknown) => thrown)
const unsigned = await webhooks.verify({}, '', 'whsec_').catch((thrown: unknown) => thrown)
for (const one of [error, unsigned]) if (one instanceof TempostError) console.log(one.code)
`

const types = `
export async function wrongUses(tempost: Tempost) {
	// @ts-expect-error A mail has a recipient.
	await tempost.send({ subject: 'S', body: 'B' })
	// @ts-expect-error An id is needed.
	await tempost.campaigns.get()
	// @ts-expect-error There is no such status.
	await tempost.campaigns.list({ status: 'DONE' })
	// @ts-expect-error A delay has a unit.
	await tempost.workflows.createStep('id', { type: 'DELAY', name: 'D', config: { amount: 1 } })
	// @ts-expect-error A template has HTML, or an element.
	await tempost.templates.create({ name: 'T', subject: 'S', from: 'a@example.com', type: 'MARKETING' })
	// @ts-expect-error A template has HTML or an element, not both.
	await tempost.send({ to: 'a@example.org', body: 'B', react: { type: 'p', props: {}, key: null } })
	const event = await webhooks.verify(new Headers(), '', '')
	// @ts-expect-error Only some events have a type of bounce.
	console.log(event.data.bounceType)
	if (event.type === 'email.bounced') console.log(event.data.bounceType)
	for await (const contact of tempost.contacts.list()) {
		// @ts-expect-error A contact has no such member.
		console.log(contact.nonsense)
	}
}
`

test('the packed package runs in plain Node, has types for every runtime, and a command', async (t) => {
	t.timeout(180_000)
	const { folder, place } = await unpacked(t)
	writeFileSync(join(folder, 'program.ts'), program)
	const { stdout } = await run(process.execPath, ['program.ts'], { cwd: folder })
	t.is(stdout, 'NETWORK_ERROR\nINVALID_SIGNATURE\n')

	writeFileSync(join(folder, 'types.ts'), program + types)
	const compilerOptions = {
		target: 'es2022',
		lib: ['es2022', 'dom', 'dom.iterable'],
		types: [],
		module: 'nodenext',
		strict: true,
		exactOptionalPropertyTypes: true,
		noEmit: true,
	}
	writeFileSync(
		join(folder, 'tsconfig.json'),
		JSON.stringify({ compilerOptions, files: ['types.ts'] }),
	)
	await t.notThrowsAsync(tsc('-p', folder))

	const help = await run(process.execPath, [join(place, 'dist/cli/main.js'), '--help'])
	t.regex(help.stdout, /contacts import/)
	t.deepEqual(readdirSync(place).toSorted(), ['README.md', 'dist', 'package.json'])
})

test('the client without its command line is at most 15 KB, and imports nothing', async (t) => {
	const { outputFiles, metafile } = await esbuild.build({
		entryPoints: [join(root, 'client/index.ts')],
		bundle: true,
		minify: true,
		format: 'esm',
		platform: 'neutral',
		write: false,
		metafile: true,
	})
	await esbuild.stop()
	const size = gzipSync(outputFiles[0]!.contents).length
	t.log(`${size} bytes`)
	t.true(size <= mostBytes)
	const imports = Object.values(metafile.inputs).flatMap((file) => file.imports)
	t.deepEqual(
		imports.filter(({ external }) => external),
		[],
	)
})
