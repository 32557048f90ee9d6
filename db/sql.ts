import { type Pool, type PoolClient, types } from 'pg'
import { type Columns, type RowOf, Value } from './sql-types.ts'
import { storedIn } from './stored-json.ts'

/**
 * SQL whose text depends on the request, which a statement's can't: conditions, lists. It consists of our
 * own text and of typed values; a value never becomes text.
 */
export class Sql {
	readonly texts: readonly string[]
	readonly parts: readonly (Sql | Value)[]

	constructor(texts: readonly string[], parts: readonly (Sql | Value)[]) {
		this.texts = texts
		this.parts = parts
	}
}

export const sql = (texts: TemplateStringsArray, ...parts: (Sql | Value)[]) => new Sql(texts, parts)

/** A text of our own, such as a column's name. Never use it for a text from a request. */
export const ownText = (text: string) => new Sql([text], [])

export const joined = (parts: readonly Sql[], by: string) =>
	new Sql(['', ...parts.slice(1).map(() => by), ''], parts)

export const always = sql`true`
export const never = sql`false`

/** The row of every composed query, by the query's name. */
export const queries: ReadonlyMap<string, Columns> = new Map()

/**
 * A query that is composed for each call. `shape` names its text if there are only a few variants:
 * Postgres then parses and plans each once per connection.
 */
export function query<R extends Columns>(name: string, row: R) {
	if (queries.has(name)) throw new Error(`Two queries have the name ${name}`)
	;(queries as Map<string, Columns>).set(name, row)
	const withStored = storedIn(row)
	return async (db: Pool | PoolClient, composed: Sql, shape?: string): Promise<RowOf<R>[]> => {
		const prepared = shape === undefined ? {} : { name: `${name}-${shape}` }
		// pg ignores the extra member; observers use it to tell which query this is.
		const asked = { query: name, ...prepared, ...numbered(composed), types }
		const { rows } = await db.query(asked)
		return withStored(rows) as RowOf<R>[]
	}
}

/** As Postgres expects it: values as $1, $2… with their types. A value that occurs twice is sent once. */
export function numbered(composed: Sql) {
	const numbers = new Map<Value, number>()
	const pieces: string[] = []
	const write = ({ texts, parts }: Sql) => {
		for (const [index, text] of texts.entries()) {
			pieces.push(text)
			const part = parts[index]
			if (part instanceof Sql) write(part)
			else if (part) {
				if (!numbers.has(part)) numbers.set(part, numbers.size + 1)
				pieces.push(`$${numbers.get(part)}::${part.type.names[0]}`)
			}
		}
	}
	write(composed)
	return { text: pieces.join(''), values: [...numbers.keys()].map((value) => value.encoded()) }
}
