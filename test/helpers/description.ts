import type { Connection, FieldDef, PoolClient, Submittable } from 'pg'
import type { Columns } from '../../db/sql-types.ts'
import type { Statement } from '../../db/statement.ts'

/** Compares the declarations of statements with Postgres' descriptions, without running them. */
export async function describer(db: PoolClient) {
	const types = await db.query<{ oid: number; name: string }>(
		'select oid, typname as name from pg_type',
	)
	const typeNames = new Map(types.rows.map(({ oid, name }) => [oid, name]))
	const { rows } = await db.query<{ column: string }>(
		`select attrelid || '.' || attnum as column from pg_attribute where attnum > 0 and not attnotnull`,
	)
	const nullable = new Set(rows.map(({ column }) => column))

	function faultsOfParams(params: Columns, oids: number[]) {
		return Object.entries(params).flatMap(([name, { names }], index) => {
			const type = typeNames.get(oids[index]!)!
			return names.includes(type) ? [] : [`$${name} is ${type}, not ${names[0]}`]
		})
	}

	function faultsOfRow(row: Columns, fields: FieldDef[]) {
		const described = new Map(fields.map((field) => [field.name, field]))
		const missing = Object.keys(row).filter((name) => !described.has(name))
		return [
			...missing.map((name) => `it does not return ${name}`),
			...fields.flatMap((field) => faultOfColumn(row[field.name], field)),
		]
	}

	function faultOfColumn(declared: Columns[string] | undefined, field: FieldDef) {
		const { name, tableID, columnID } = field
		if (!declared) return [`it returns ${name}, too`]
		const type = typeNames.get(field.dataTypeID)!
		if (!declared.names.includes(type)) return [`${name} is ${type}, not ${declared.names[0]}`]
		const isNullable = nullable.has(`${tableID}.${columnID}`)
		if (isNullable && !declared.isNullable && !declared.notNullBecause)
			return [`${name} may be null: say orNull, or notNull with the reason`]
		if (!isNullable && declared.notNullBecause) return [`${name} needs no reason not to be null`]
		return []
	}

	return async function faultsOf({ text, params, row }: Statement): Promise<string[]> {
		try {
			const { oids, fields } = await db.query(new Describe(text)).described
			return [...faultsOfParams(params, oids), ...(row ? faultsOfRow(row, fields) : [])]
		} catch (error) {
			return [(error as Error).message]
		}
	}
}

/** Parse and Describe of Postgres' protocol, for which pg has no call. */
class Describe implements Submittable {
	readonly #text: string
	readonly #outcome = Promise.withResolvers<{ oids: number[]; fields: FieldDef[] }>()
	readonly described = this.#outcome.promise
	#oids: number[] = []
	#fields: FieldDef[] = []

	constructor(text: string) {
		this.#text = text
	}

	submit(connection: Connection) {
		connection.once('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
			this.#oids = dataTypeIDs
		})
		connection.parse({ name: '', text: this.#text, types: [] }, true)
		connection.describe({ type: 'S', name: '' }, true)
		connection.sync()
	}

	handleRowDescription({ fields }: { fields: FieldDef[] }) {
		this.#fields = fields
	}

	handleError(error: Error) {
		this.#outcome.reject(error)
	}

	handleReadyForQuery() {
		this.#outcome.resolve({ oids: this.#oids, fields: this.#fields })
	}
}
