import { MikroORM } from '@mikro-orm/postgresql'
import type { ExecutionContext } from 'ava'
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Client, type Pool, type PoolClient } from 'pg'
import config from '../../db/config.ts'
import { migrate } from '../../db/migrating.ts'
import { poolOf } from '../../db/statement.ts'

const db = new URL('../../db/', import.meta.url)
let template: Promise<string> | undefined

/** The test's own database, with tables. */
export async function setupDatabase(t: ExecutionContext) {
	const dbName = `test_${randomUUID()}`
	template ??= madeTemplate()
	const from = await template
	await asAdmin((admin) =>
		admin.query(`create database "${dbName}" template "${from}" strategy file_copy`),
	)
	const orm = await MikroORM.init({ ...config, dbName, pool: { min: 0, max: 10 } })
	const held = heldConnections(await poolOf(orm.em))
	t.teardown(async () => {
		if (!t.passed) for (const client of held) client.release(true)
		await orm.schema.dropDatabase(dbName)
		await orm.close()
	})
	return orm
}

/** The end of the pool waits for them. A test that has failed gives none back, and would hang instead. */
function heldConnections(pool: Pool): ReadonlySet<PoolClient> {
	const held = new Set<PoolClient>()
	pool.on('acquire', (client) => held.add(client))
	pool.on('release', (_, client) => held.delete(client))
	return held
}

/**
 * Migrated once and then copied, because a thousand tests need a database each. It is named after the
 * migrations and rules, and gets its name when it is complete. Of several processes one creates it, while
 * the others wait.
 */
const madeTemplate = () =>
	asAdmin(async (admin) => {
		const name = `template_${await digestOfSchema()}`
		await admin.query(`select pg_advisory_lock(hashtextextended('template of tests', 0))`)
		const { rowCount } = await admin.query('select from pg_database where datname = $1', [name])
		if (rowCount) return name
		const unfinished = `${name}_unfinished`
		await admin.query(`drop database if exists "${unfinished}"`)
		const orm = await MikroORM.init({ ...config, dbName: unfinished })
		try {
			await migrate(orm)
		} finally {
			await orm.close(true)
		}
		await admin.query(`alter database "${unfinished}" rename to "${name}"`)
		return name
	})

async function digestOfSchema() {
	const hash = createHash('sha256')
	for (const file of (await readdir(db, { recursive: true })).toSorted())
		if (file.endsWith('.sql') || file.startsWith('migrations/M'))
			hash.update(file).update(await readFile(new URL(file, db)))
	return hash.digest('hex').slice(0, 16)
}

async function asAdmin<T>(act: (admin: Client) => Promise<T>) {
	const admin = new Client({ connectionString: String(config.clientUrl) })
	await admin.connect()
	try {
		return await act(admin)
	} finally {
		await admin.end()
	}
}
