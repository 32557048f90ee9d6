import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/**
 * Staged good rows of a file: four arrays of the same length. The transaction that applies a chunk deletes
 * it.
 */
const schema = defineEntity({
	name: 'ImportChunk',
	tableName: 'import_chunks',
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** The number of good rows of the file up to the end of this chunk. */
		position: p.integer().primary(),
		/** Counted as in a spreadsheet: the header is row 1. */
		rows: p.array().columnType('int[]'),
		emails: p.array().columnType('text[]'),
		/** null: unchanged. */
		subscribed: p.array().columnType('boolean[]'),
		data: p.array().columnType('jsonb[]'),
		/** Rows that were merged into a later row with the same address. Their values fill its empty cells. */
		repeats: p.integer(),
	},
})

export class ImportChunk extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'position']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'jobId'], 'jobs', 'cascade'),
	]
	static storage = [
		'alter column emails set storage external',
		'alter column data set storage external',
	]
}
schema.setClass(ImportChunk)
