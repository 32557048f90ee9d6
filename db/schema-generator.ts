import { SchemaGenerator, type SqlEntityManager } from '@mikro-orm/postgresql'

type Diff = Parameters<SchemaGenerator['diffToSQL']>[0]

/**
 * Compares entities and database without their foreign keys. Ours carry the project,
 * `(project_id, contact_id)`, and let go of the contact alone when it is deleted, which a relation of
 * the ORM cannot say: the migrations write them, and test/schema.test.ts holds that they are there.
 * Functions and triggers, too, are the migrations' own.
 */
export class ForeignKeyBlindSchemaGenerator extends SchemaGenerator {
	static override register(orm: Parameters<typeof SchemaGenerator.register>[0]) {
		orm.config.registerExtension(
			'@mikro-orm/schema-generator',
			() => new ForeignKeyBlindSchemaGenerator(orm.em as SqlEntityManager),
		)
	}

	override diffToSQL(diff: Diff, options: Parameters<SchemaGenerator['diffToSQL']>[1]) {
		diff.orphanedForeignKeys.length = 0
		diff.removedRoutines = {}
		for (const table of Object.values(diff.changedTables))
			Object.assign(table, { removedForeignKeys: {}, removedTriggers: {} })
		return super.diffToSQL(diff, options)
	}
}
