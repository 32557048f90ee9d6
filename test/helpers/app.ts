import { MikroORM } from '@mikro-orm/postgresql'
import type { ExecutionContext } from 'ava'
import type { FastifyServerOptions } from 'fastify'
import { createApp, type Services } from '../../api/app.ts'
import { readSettings, type Settings } from '../../api/settings.ts'
import config from '../../db/config.ts'
import { newKeys } from '../../db/projects/project-keys.ts'
import { Project } from '../../db/projects/project.ts'
import { poolOf } from '../../db/statement.ts'
import { cuttableWay } from './cuttable-way.ts'
import { setupDatabase } from './database.ts'

interface Options {
	settings?: Partial<Settings>
	services?: Partial<Services>
	fastify?: FastifyServerOptions
}

export const testSettings = (changes: Partial<Settings> = {}): Settings => ({
	...readSettings({ SESSION_SECRET: 'a secret of the tests', RATE_LIMIT_PER_MINUTE: '0' }),
	...changes,
})

/** A second API on the same database, as if in another process. */
export async function startApp(t: ExecutionContext, orm: MikroORM, options: Options = {}) {
	const wakes = { count: 0 }
	const app = await createApp(
		{
			orm,
			relay: { wake: () => void wakes.count++, wakeSends: () => void wakes.count++ },
			settings: testSettings(options.settings),
			checkTemporal: async () => ({ temporal: true, worker: true }),
			...options.services,
		},
		options.fastify,
	)
	t.teardown(() => app.close())
	return { app, wakes }
}

export async function createProject(orm: MikroORM, columns: Partial<Project> = {}) {
	const em = orm.em.fork()
	const { secretKey, columns: keys } = newKeys()
	const project = em.create(Project, { name: 'Test project', ...keys, ...columns })
	await em.flush()
	const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
	return {
		project,
		publicKey: keys.publicKey,
		secretKey,
		withPublicKey: bearer(keys.publicKey),
		withSecretKey: bearer(secretKey),
	}
}

/** An API with its own database and one project. Routes can be added to `app` until its first use. */
export async function setup(t: ExecutionContext, options: Options = {}) {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	return { orm, pool, ...(await startApp(t, orm, options)), ...(await createProject(orm)) }
}

/** The same database over a connection that can be cut. */
export async function viaProxy(t: ExecutionContext, orm: MikroORM) {
	const database = new URL(String(config.clientUrl))
	const { port, cut, mend } = await cuttableWay(database.hostname, Number(database.port || 5432))
	const clientUrl = Object.assign(new URL(database), { hostname: '127.0.0.1', port }).href
	const distant = await MikroORM.init({ ...config, clientUrl, dbName: orm.config.get('dbName') })
	t.teardown(async () => {
		await distant.close(true)
		cut()
	})
	return { orm: distant, cut, mend }
}
