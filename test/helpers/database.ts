import { MikroORM } from '@mikro-orm/postgresql'
import type { ExecutionContext } from 'ava'
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'
import config from '../../db/config.ts'
import { migrate } from '../../db/migrating.ts'

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
	t.teardown(async () => {
		await orm.schema.dropDatabase(dbName)
		await orm.close()
	})
	return orm
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
