import type { EntityManager } from '@mikro-orm/postgresql'
import { type Pool, type PoolClient, types } from 'pg'

/** The pg pool beneath the ORM, for the few statements that are prepared by name. */
export const poolOf = (em: EntityManager): Promise<Pool> =>
	em.getConnection().getNativeClient() as Promise<Pool>

/**
 * A hand-written statement of a hot path. Postgres parses and plans it once a connection, which for
 * the larger ones is half of their cost. Parameters are $1, $2…; rows come as Postgres names them, in
 * the types of pg (dates are Dates, bigints strings), not in the ORM's.
 */
export const statement =
	<Row>(name: string, text: string) =>
	async (db: Pool | PoolClient, values: unknown[]): Promise<Row[]> =>
		(await db.query({ name, text, values, types })).rows
