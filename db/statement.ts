import type { EntityManager } from '@mikro-orm/postgresql'
import { type Pool, type PoolClient, types } from 'pg'
import type { Columns, GivenTo, RowOf } from './sql-types.ts'
import { storedIn } from './stored-json.ts'

/** The ORM's pg pool, for statements. */
export const poolOf = (em: EntityManager): Promise<Pool> =>
	em.getConnection().getNativeClient() as Promise<Pool>

/** A statement in the form that Postgres gets. */
export interface Statement {
	/** With its parameters as $1, $2… in the order of `params`. */
	text: string
	params: Columns
	/** Undefined: the result is ignored. */
	row: Columns | undefined
}

/** All statements by name. A name must stand for one text on every connection. */
export const statements: ReadonlyMap<string, Statement> = new Map()

/**
 * A statement with typed parameters and rows. Postgres parses and plans it once per connection, which is
 * half the cost of a large statement. The text names its parameters as $projectId; this can't be confused
 * with anything else, because Postgres has no such names. Rows have the column names that Postgres returns
 * and the types of pg, not the ORM's: dates are Dates, bigints strings. Without `row` the result is
 * ignored.
 */
export function statement<P extends Columns, R extends Columns>(
	name: string,
	description: { params: P; row: R; text: string },
): Run<P, RowOf<R>[]>
export function statement<P extends Columns>(
	name: string,
	description: { params: P; text: string },
): Run<P, void>
export function statement(
	name: string,
	description: { params: Columns; row?: Columns; text: string },
): Run<Columns, unknown> {
	const { params, row } = description
	const text = numbered(name, description.text, Object.keys(params))
	const known = statements.get(name)
	if (known !== undefined && known.text !== text)
		throw new Error(`Two statements have the name ${name}`)
	;(statements as Map<string, Statement>).set(name, { text, params, row })
	const valuesOf = encoder(params)
	const withStored = storedIn(row)
	return async (db, given) => {
		const { rows } = await db.query({ name, text, values: valuesOf(given ?? {}), types })
		return withStored(rows)
	}
}

/** Runs a statement with its parameters, or without any if it has none. */
type Run<P extends Columns, Result> = (
	db: Pool | PoolClient,
	...given: keyof P extends never ? [] : [GivenTo<P>]
) => Promise<Result>

function numbered(name: string, text: string, params: string[]) {
	const unused = new Set(params)
	const numbers = new Map(params.map((param, index) => [param, `$${index + 1}`]))
	const result = text.replaceAll(/'[^']*'|\$(\w+)/g, (literal, param?: string) => {
		if (param === undefined) return literal
		const number = numbers.get(param)
		if (!number) throw new Error(`The statement ${name} does not declare its parameter ${param}`)
		unused.delete(param)
		return number
	})
	for (const param of unused)
		throw new Error(`The statement ${name} does not use its parameter ${param}`)
	return result
}

/** Puts values in the order of the parameters, and serialises those that are sent as JSON. */
function encoder(params: Columns) {
	const columns = Object.entries(params).map(([name, { isJson }]) => ({ name, isJson }))
	return (given: Record<string, unknown>) =>
		columns.map(({ name, isJson }) => {
			const value = given[name]
			return isJson && value !== null ? JSON.stringify(value) : value
		})
}
