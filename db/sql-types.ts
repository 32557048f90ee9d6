import type { StoredJson } from './stored-json.ts'

/**
 * The type of a parameter or a result column: its name in Postgres, and its TypeScript types for reading
 * and writing. `test/statements.test.ts` has Postgres check the names in every statement.
 */
export class SqlType<Read, Given = Read> {
	/** Exists only for TypeScript. */
	declare readonly read: Read
	declare readonly given: Given
	/** As in `pg_type`; several where Postgres distinguishes types that TypeScript does not. */
	readonly names: readonly string[]
	readonly isNullable: boolean
	readonly isJson: boolean
	/** Whether its text is read as a StoredJson. */
	readonly isStored: boolean
	/** Why a nullable column is never null in this result. */
	readonly notNullBecause: string | undefined

	constructor(
		names: readonly string[],
		{ isNullable = false, isJson = false, isStored = false, because = '' } = {},
	) {
		this.names = names
		this.isNullable = isNullable
		this.isJson = isJson
		this.isStored = isStored
		this.notNullBecause = because === '' ? undefined : because
	}

	get orNull() {
		const { names, isJson, isStored } = this
		return new SqlType<Read | null, Given | null>(names, { isNullable: true, isJson, isStored })
	}

	get array() {
		return new SqlType<Read[], readonly Given[]>(this.names.map((name) => `_${name}`))
	}

	/** Restricts the type to some of its values. */
	of<Narrow extends Read & Given>() {
		return this as unknown as SqlType<Narrow>
	}

	/** A value for composed SQL. */
	value(given: Given) {
		return new Value(this, given)
	}

	/** The column is nullable, but is never null in this result, for the given reason. */
	notNull(because: string) {
		const { names, isJson, isStored } = this
		return new SqlType<Read, Given>(names, { isJson, isStored, because })
	}
}

/** A value with its type. */
export class Value {
	readonly type: Pick<SqlType<unknown>, 'names' | 'isJson'>
	readonly given: unknown

	constructor(type: Pick<SqlType<unknown>, 'names' | 'isJson'>, given: unknown) {
		this.type = type
		this.given = given
	}

	/** In the form that is sent to Postgres. */
	encoded() {
		return this.type.isJson && this.given !== null ? JSON.stringify(this.given) : this.given
	}
}

export const uuid = new SqlType<string>(['uuid'])
export const text = new SqlType<string>(['text', 'varchar'])
export const bool = new SqlType<boolean>(['bool'])
export const int = new SqlType<number>(['int4', 'int2'])
/** Read as a string, because JavaScript's numbers are exact only up to 2^53. */
export const bigint = new SqlType<string, string | number>(['int8'])
export const float = new SqlType<number>(['float8', 'float4'])
/** Read as a string, which keeps its precision. */
export const numeric = new SqlType<string, string | number>(['numeric'])
export const timestamp = new SqlType<Date, Date | string>(['timestamptz'])
export const bytes = new SqlType<Buffer>(['bytea'])

/** A day, given as YYYY-MM-DD. */
export const date = new SqlType<never, string>(['date'])

/** A value that is sent as JSON. */
export const json = <T>() => new SqlType<T>(['jsonb', 'json'], { isJson: true })

/** JSON that an answer passes on. The SQL casts it to text. */
export const storedJson = new SqlType<StoredJson, never>(['text'], { isStored: true })

/** Columns of an outer join that may find no row. */
export const orNull = <C extends Record<string, SqlType<unknown>>>(columns: C) =>
	Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, type.orNull])) as {
		[Name in keyof C]: C[Name]['orNull']
	}

/** Parameters or result columns by name. */
export type Columns = Record<
	string,
	Pick<
		SqlType<unknown>,
		'names' | 'isNullable' | 'isJson' | 'isStored' | 'notNullBecause' | 'read' | 'given'
	>
>
type ReadFrom<C extends Columns> = { -readonly [Name in keyof C]: C[Name]['read'] }
/** A row of a statement, or of columns that several statements return. */
export type RowOf<S> = S extends (...given: never[]) => Promise<(infer Row)[]>
	? Row
	: S extends Columns
		? ReadFrom<S>
		: never
export type GivenTo<C extends Columns> = { readonly [Name in keyof C]: C[Name]['given'] }
