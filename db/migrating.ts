import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import type { ConcurrentIndex } from './concurrent-index.ts'
import { addPartitions } from './partitions.ts'
import { applyRules } from './rules.ts'
import { poolOf } from './statement.ts'
import { takeTurn } from './turn.ts'

const askAgainMs = 250
export const firstMigration = 'Migration20261122170000'

/**
 * Migrates a database: first its tables, then its rules. One process does it while others wait. Migrations
 * share one transaction, except for indexes that are built while others write.
 */
export async function migrate(orm: MikroORM) {
	await ensureDatabase(orm)
	const pool = await poolOf(orm.em)
	const db = await pool.connect()
	try {
		await waitForTurn(db)
		await refuseOlder(orm)
		for (const migrations of await batchesOf(orm)) await migrateInTurn(orm, migrations)
		await applyRules(db)
		await addPartitions(pool)
	} finally {
		// The connection holds the lock, and releases it at its end.
		db.release(true)
	}
}

/** Another process may have created it between our check and our try. */
async function ensureDatabase(orm: MikroORM) {
	const dbName = orm.config.get('dbName')
	await orm.schema.ensureDatabase().catch(async (error: { code?: string }) => {
		if (!['42P04', '23505'].includes(error.code ?? '')) throw error
		orm.config.set('dbName', dbName)
		await orm.reconnect()
	})
}

const isContended = (error: unknown) =>
	['55P03', '40P01'].includes((error as { code?: string }).code ?? '')

/**
 * A migration that waits for a table blocks everybody who comes after it. So it soon gives up, and lets them pass before
 * it tries again. It waits twice as long each time, so that it comes to an end even if its own work takes long.
 */
async function migrateInTurn(orm: MikroORM, migrations: string[]) {
	const connection = orm.em.getConnection()
	for (let waitMs = 500; ; waitMs *= 2)
		try {
			return await connection.transactional(async (transaction) => {
				await connection.execute(`set local lock_timeout = ${waitMs}`, [], 'run', transaction)
				await orm.migrator.up({ migrations, transaction })
			})
		} catch (error) {
			if (!isContended(error)) throw error
			await sleep(waitMs)
		}
}

/** Polled: a statement waiting for the lock would itself block a concurrent index build. */
async function waitForTurn(db: PoolClient) {
	while (!(await takeTurn(db, { work: 'migration' }))[0]!.isOurs) await sleep(askAgainMs)
}

async function refuseOlder(orm: MikroORM) {
	const executed = await orm.migrator.getExecuted()
	if (executed.length > 0 && executed.every(({ name }) => name !== firstMigration))
		throw new Error(
			'This database was made before the first release, and cannot be upgraded. Start with an empty one.',
		)
}

async function batchesOf(orm: MikroORM) {
	const batches: string[][] = []
	let open: string[] | undefined
	for (const { name, path } of await orm.migrator.getPending()) {
		const file = pathToFileURL(resolve(path!)).href
		const exported = (await import(file)) as Record<string, Partial<typeof ConcurrentIndex>>
		const isAlone = Object.values(exported).some((migration) => migration.isAlone)
		if (isAlone || !open) batches.push((open = []))
		open.push(name)
		if (isAlone) open = undefined
	}
	return batches
}
