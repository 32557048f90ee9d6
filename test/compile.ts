import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as esbuild from 'esbuild'
import { threadEntry, threadsIn } from '../build/build.ts'
import { sourceFiles } from '../build/freshness.ts'
import { unbundled } from '../build/packages.ts'
import { root } from '../build/root.ts'
import { isAlive } from '../local/processes.ts'

const folder = join(root, '.cache/tests')

/**
 * Compiles tests with everything they import, once for a run. Each of 200 processes would otherwise take 3.2 s of
 * processor time to transpile and load the API; loading the bundle takes 0.6 s. A module still finds its files
 * beside its source.
 */
export async function compileTests(tests: string[]) {
	removeLeftovers()
	const outdir = join(folder, String(process.pid))
	await esbuild.build({
		absWorkingDir: root,
		entryPoints: [...tests, ...threadsIn(sourceFiles())],
		outbase: root,
		outdir,
		chunkNames: 'chunks/[name]-[hash]',
		bundle: true,
		splitting: true,
		format: 'esm',
		platform: 'node',
		target: 'node24',
		jsx: 'automatic',
		external: [...unbundled, ...developmentPackages()],
		// MikroORM finds classes by their names.
		keepNames: true,
		sourcemap: 'linked',
		sourcesContent: false,
		banner: { js: banner },
		plugins: [placesOfSources(outdir)],
		logLevel: 'warning',
	})
	await esbuild.stop()
	return { folder: outdir, remove: () => rmSync(outdir, { recursive: true, force: true }) }
}

/** Only a few tests need these packages, which are large or can't be bundled. */
function developmentPackages() {
	const manifest = readFileSync(join(root, 'package.json'), 'utf8')
	const { devDependencies } = JSON.parse(manifest) as { devDependencies: object }
	// Ajv is in the bundle as part of Fastify.
	return Object.keys(devDependencies).filter((name) => name !== 'ajv')
}

function removeLeftovers() {
	mkdirSync(folder, { recursive: true })
	for (const pid of readdirSync(folder))
		if (!isAlive(Number(pid))) rmSync(join(folder, pid), { recursive: true, force: true })
}

const banner = [
	"import { createRequire as __createRequire } from 'node:module'",
	'const require = __createRequire(import.meta.url)',
].join('\n')

const placesOfSources = (outdir: string): esbuild.Plugin => ({
	name: 'places of sources',
	setup(builder) {
		builder.onLoad({ filter: /[.]tsx?$/ }, ({ path }) => {
			if (path.includes('/node_modules/')) return undefined
			const urlOf = (file: string) => JSON.stringify(pathToFileURL(file).href)
			const beside = join(outdir, relative(root, dirname(path)))
			const contents = readFileSync(path, 'utf8')
				.replaceAll(
					threadEntry,
					(_, name) => `entry: new URL(${urlOf(join(beside, `${name}.js`))})`,
				)
				.replaceAll('import.meta.url', urlOf(path))
				.replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
			return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
		})
	},
})
