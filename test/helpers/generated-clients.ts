import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The generators use TypeScript's own API, which its latest version no longer has. */
async function withTypescript<T>(load: () => Promise<T>) {
	const hooks = registerHooks({
		resolve: (specifier, context, next) =>
			next(specifier === 'typescript' ? '@ts-morph/common/dist/typescript.js' : specifier, context),
	})
	try {
		return await load()
	} finally {
		hooks.deregister()
	}
}

/** The types of the document, for openapi-fetch. */
export async function generateTypes(document: string) {
	const { astToString, default: write } = await withTypescript(() => import('openapi-typescript'))
	return astToString(await write(document))
}

/** A client with a function for each operation. */
export async function generateSdk(document: string, path: string) {
	const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
	const input = join(folder, 'openapi.json')
	writeFileSync(input, document)
	try {
		await withTypescript(async () => {
			const { createClient } = await import('@hey-api/openapi-ts')
			await createClient({
				input,
				output: { path, importFileExtension: '.ts' },
				plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
				logs: { level: 'silent', file: false },
			})
		})
	} finally {
		rmSync(folder, { recursive: true, force: true })
	}
}
