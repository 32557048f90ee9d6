import type { EntityManager } from '@mikro-orm/postgresql'
import { type Pool, type PoolClient, types } from 'pg'

/** The pg pool beneath the ORM, for the few statements that are prepared by name. */
export const poolOf = (em: EntityManager): Promise<Pool> =>
	em.getConnection().getNativeClient() as Promise<Pool>

/** The text of every statement by its name, for a name stands for one text on every connection. */
export const statements: ReadonlyMap<string, string> = new Map()

/**
 * A hand-written statement of a hot path. Postgres parses and plans it once a connection, which for
 * the larger ones is half of their cost. Parameters are $1, $2…; rows come as Postgres names them, in
 * the types of pg (dates are Dates, bigints strings), not in the ORM's.
 */
export function statement<Row>(name: string, text: string) {
	const known = statements.get(name)
	if (known !== undefined && known !== text)
		throw new Error(`There is another statement of the name ${name}`)
	;(statements as Map<string, string>).set(name, text)
	return async (db: Pool | PoolClient, values: unknown[]): Promise<Row[]> =>
		(await db.query({ name, text, values, types })).rows
}
