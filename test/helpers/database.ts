import { MikroORM } from '@mikro-orm/postgresql'
import type { ExecutionContext } from 'ava'
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'
import config from '../../db/config.ts'
import { migrate } from '../../db/migrating.ts'

const migrations = new URL('../../db/migrations/', import.meta.url)
let template: Promise<string> | undefined

/** A database of the test's own, with the tables in it. */
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
 * Migrated once and then copied: a thousand tests want a database each. It is named after the migrations,
 * and gets its name when it is whole; of several processes one makes it, while the others wait.
 */
const madeTemplate = () =>
	asAdmin(async (admin) => {
		const name = `template_${await digestOfMigrations()}`
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

async function digestOfMigrations() {
	const hash = createHash('sha256')
	for (const file of (await readdir(migrations)).toSorted())
		hash.update(file).update(await readFile(new URL(file, migrations)))
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
