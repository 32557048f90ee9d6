import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import * as vite from 'vite'
import { root } from './root.ts'

/** Builds the web console into a folder, each file with compressed copies beside it. */
export async function buildConsole(folder: string) {
	// Whatever started the build: tests, for example.
	process.env['NODE_ENV'] = 'production'
	await vite.build({
		configFile: join(root, 'console/vite.config.ts'),
		logLevel: 'warn',
		build: { outDir: folder, emptyOutDir: true },
	})
	const assets = join(folder, 'assets')
	await Promise.all(readdirSync(assets).map((name) => compress(join(assets, name))))
}

async function compress(file: string) {
	const bytes = readFileSync(file)
	writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes))
	writeFileSync(`${file}.gz`, await promisify(gzip)(bytes))
}
