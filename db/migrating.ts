import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { ConcurrentIndex } from './concurrent-index.ts'
import { poolOf, statement } from './statement.ts'

const askAgainMs = 250

/**
 * Brings a database up to date. Of several processes one does it while the others wait. Migrations share
 * one transaction, except that an index which is built beside writers needs to be outside of any.
 */
export async function migrate(orm: MikroORM) {
	await ensureDatabase(orm)
	const db = await (await poolOf(orm.em)).connect()
	try {
		await takeTurn(db)
		for (const migrations of await batchesOf(orm)) await orm.migrator.up({ migrations })
	} finally {
		// The lock is the connection's, and ends with it.
		db.release(true)
	}
}

/** Another process may have created it between our look and our try. */
async function ensureDatabase(orm: MikroORM) {
	const dbName = orm.config.get('dbName')
	await orm.schema.ensureDatabase().catch(async (error: { code?: string }) => {
		if (!['42P04', '23505'].includes(error.code ?? '')) throw error
		orm.config.set('dbName', dbName)
		await orm.reconnect()
	})
}

/** Asked again and again: a statement that waited for the lock would be waited for by a concurrent build. */
async function takeTurn(db: PoolClient) {
	while (!(await tryTurn(db, []))[0]!.isOurs) await sleep(askAgainMs)
}

const tryTurn = statement<{ isOurs: boolean }>(
	'try-migration-turn',
	`select pg_try_advisory_lock(hashtextextended('migration', 0)) as "isOurs"`,
)

async function batchesOf(orm: MikroORM) {
	const batches: string[][] = []
	let open: string[] | undefined
	for (const { name, path } of await orm.migrator.getPending()) {
		const file = pathToFileURL(resolve(path!)).href
		const exported = Object.values((await import(file)) as Record<string, { prototype: unknown }>)
		const isAlone = exported.some(({ prototype }) => prototype instanceof ConcurrentIndex)
		if (isAlone || !open) batches.push((open = []))
		open.push(name)
		if (isAlone) open = undefined
	}
	return batches
}
