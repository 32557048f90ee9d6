import type { Columns } from './sql-types.ts'

/**
 * JSON as Postgres sent it, for rows that are only passed on. It is parsed while it is serialised, so of a
 * page of 100 contacts with 64 KB of data each only a few are in memory as objects. All of them would take
 * 40 MB, and collecting that garbage would block the event loop for 50 ms.
 */
export class StoredJson {
	readonly text: string

	constructor(text: string) {
		this.text = text
	}

	toJSON() {
		return JSON.parse(this.text) as Record<string, unknown>
	}
}

/** Its size without reading it: a compressed one counts as the most that is accepted. */
export const sizeOfJson = (column: string) =>
	`case when pg_column_compression(${column}) is null then pg_column_size(${column}) else 65536 end`

/** Puts StoredJson in place of the texts that were read for such columns. */
export function storedIn(columns: Columns | undefined) {
	const names = Object.entries(columns ?? {}).flatMap(([name, { isStored }]) =>
		isStored ? [name] : [],
	)
	return (rows: Record<string, unknown>[]) => {
		for (const name of names)
			for (const row of rows)
				if (row[name] !== null) row[name] = new StoredJson(row[name] as string)
		return rows
	}
}
