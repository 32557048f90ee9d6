import { type DatabaseSchema, SchemaGenerator, type SqlEntityManager } from '@mikro-orm/postgresql'
import type { Partitions } from './partitions.ts'
import type { Reference } from './reference.ts'

type Metadata = ReturnType<SchemaGenerator['getOrderedMetadata']>[number]

/**
 * MikroORM's generator, extended by what entities declare in `static references`, see db/reference.ts, and
 * `static storage`: how Postgres stores a table, as actions of `alter table`. `static partitions`: see
 * db/partitions.ts.
 */
export class ExtendedSchemaGenerator extends SchemaGenerator {
	static override register(orm: Parameters<typeof SchemaGenerator.register>[0]) {
		orm.config.registerExtension(
			'@mikro-orm/schema-generator',
			() => new ExtendedSchemaGenerator(orm.em as SqlEntityManager),
		)
	}

	#isCreating = false

	override async getCreateSchemaSQL(...options: Parameters<SchemaGenerator['getCreateSchemaSQL']>) {
		this.#isCreating = true
		const sql = await super.getCreateSchemaSQL(...options)
		this.#isCreating = false
		const metadata = this.getOrderedMetadata()
		const alterations = metadata.flatMap((meta) => [
			...withoutEnforcement(meta),
			...storageOf(meta),
		])
		return [sql, ...alterations].join('\n')
	}

	override getTargetSchema(...options: Parameters<SchemaGenerator['getTargetSchema']>) {
		const schema = super.getTargetSchema(...options)
		for (const meta of this.getOrderedMetadata(...options)) {
			addReferences(schema, meta)
			// A comparison would want to remove the partitions of a table: they are no entities.
			if (this.#isCreating) addPartitioning(schema, meta)
		}
		return schema
	}
}

function addReferences(schema: DatabaseSchema, meta: Metadata) {
	const table = schema.getTable(meta.tableName)!
	const foreignKeys = table.getForeignKeys()
	for (const reference of referencesOf(meta)) {
		const columnNames = columnsOf(meta, reference)
		const last = columnNames.at(-1)!
		const constraintName = nameOf(meta, reference)
		foreignKeys[constraintName] = {
			constraintName,
			columnNames,
			localTableName: table.getShortestName(false),
			referencedTableName: `${schema.name}.${reference.table}`,
			referencedColumnNames: columnNames.with(-1, last.endsWith('_id') ? 'id' : last),
			// The project in the other column stays.
			deleteRule: reference.onDelete === 'set null' ? `set null (${last})` : reference.onDelete,
		}
	}
}

function addPartitioning(schema: DatabaseSchema, { class: entity, tableName }: Metadata) {
	const { partitions } = entity as { partitions?: Partitions }
	if (!partitions) return
	schema
		.getTable(tableName)!
		.setPartitioning({ definition: `range (${partitions.by})`, partitions: [] })
}

const withoutEnforcement = (meta: Metadata) =>
	referencesOf(meta)
		.filter(({ isEnforced }) => !isEnforced)
		.map(
			(reference) =>
				`alter table ${meta.tableName} alter constraint ${nameOf(meta, reference)} not enforced;`,
		)

const storageOf = ({ class: entity, tableName }: Metadata) =>
	((entity as { storage?: readonly string[] }).storage ?? []).map(
		(action) => `alter table ${tableName} ${action};`,
	)

const referencesOf = ({ class: entity }: Metadata) =>
	(entity as { references?: readonly Reference[] }).references ?? []

const nameOf = (meta: Metadata, reference: Reference) =>
	`${meta.tableName}_${columnsOf(meta, reference).at(-1)!.replace(/_id$/, '')}`

const columnsOf = ({ properties, className }: Metadata, reference: Reference) =>
	reference.properties.map((property) => {
		const column = properties[property]?.fieldNames[0]
		if (!column)
			throw new Error(`${className} has no property ${property} that could refer to a row`)
		return column
	})
