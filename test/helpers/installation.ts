import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { until } from '../../bench/load.ts'
import { newNamespace } from '../../bench/namespace.ts'
import { service } from '../../bench/stack.ts'
import { prepareDatabase } from '../../local/bootstrap.ts'
import type { FirstProject } from '../../local/data-dir.ts'
import { anyPort } from '../../local/ports.ts'
import type { Installation } from './doc-examples.ts'

const temporalAddress = process.env['TEMPORAL_ADDRESS']!

/** The same folder as after `npm start`, with a running API and worker, beside the test's servers. */
export async function install(t: ExecutionContext): Promise<Installation> {
	const folder = await mkdtemp(join(tmpdir(), 'tempost-docs-'))
	t.teardown(() => rm(folder, { recursive: true }))
	const name = `docs_${randomBytes(6).toString('hex')}`
	const databaseUrl = process.env['DATABASE_URL']!.replace(/\/[^/]*$/, `/${name}`)
	let first: FirstProject | undefined
	await prepareDatabase(databaseUrl, {
		remembered: undefined,
		remember: (project) => void (first = project),
	})
	await mkdir(join(folder, '.data'))
	await writeFile(join(folder, '.data', 'local.json'), JSON.stringify(first))

	const port = await anyPort()
	const apiUrl = `http://localhost:${port}`
	const env = {
		DATABASE_URL: databaseUrl,
		TEMPORAL_ADDRESS: temporalAddress,
		TEMPORAL_NAMESPACE: await newNamespace(temporalAddress),
		SESSION_SECRET: randomBytes(32).toString('hex'),
		PORT: String(port),
		DATA_DIR: join(folder, '.data'),
		EMAIL_PROVIDER: 'local',
	}
	const health = async () => {
		const answer = await fetch(`${apiUrl}/health`).catch(() => undefined)
		return ((await answer?.json()) as { status?: string } | undefined)?.status
	}
	const api = service('api/main.ts', env, async () => (await health()) !== undefined)
	const worker = service('activities/worker.ts', env, async (output) =>
		output().includes('the worker runs'),
	)
	t.teardown(() => Promise.all([api.stop(), worker.stop()]))
	await Promise.all([api.start(), worker.start()])
	if (!(await until(async () => (await health()) === 'ok', 20_000))) throw new Error('no health')
	return { folder, apiUrl }
}
