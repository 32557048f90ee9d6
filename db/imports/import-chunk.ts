import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/**
 * Good rows of a file, set down before any of them is applied: four arrays of one length. A chunk goes
 * in the transaction that applies it.
 */
const schema = defineEntity({
	name: 'ImportChunk',
	tableName: 'import_chunks',
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** How many good rows of the file have been seen with the end of this chunk. */
		position: p.integer().primary(),
		/** As a spreadsheet counts: the header is row 1. */
		rows: p.array().columnType('int[]'),
		emails: p.array().columnType('text[]'),
		/** null: as it is. */
		subscribed: p.array().columnType('boolean[]'),
		data: p.array().columnType('jsonb[]'),
		/** Rows left out because a later one has their address, and their values where it has none. */
		repeats: p.integer(),
	},
})

export class ImportChunk extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'position']
}
schema.setClass(ImportChunk)
