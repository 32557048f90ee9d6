// node build/packages.ts: reduces package.json to the packages that must be installed beside a build.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

/** Packages that read their own files or start threads from them. All others are in the bundle. */
export const unbundled = [
	'@fastify/swagger-ui',
	'@temporalio/*',
	'email-providers',
	'pino',
	'protobufjs', // A dependency of Temporal, listed so that npm installs it once
]

export const isUnbundled = (name: string) =>
	unbundled.some((pattern) =>
		pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
	)

if (import.meta.main) {
	const file = join(root, 'package.json')
	const manifest = JSON.parse(readFileSync(file, 'utf8'))
	const dependencies = Object.entries(manifest.dependencies).filter(([name]) => isUnbundled(name))
	manifest.dependencies = Object.fromEntries(dependencies)
	writeFileSync(file, JSON.stringify(manifest, null, '\t'))
}
