import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { reference } from '../reference.ts'

export const importTypes = ['import', 'undo'] as const
export const bulkTypes = [
	'bulk-subscribe',
	'bulk-unsubscribe',
	'bulk-delete',
	'delete-field',
] as const
export const replayTypes = ['replay'] as const
export const jobTypes = [...importTypes, ...bulkTypes, ...replayTypes] as const
export const jobStates = ['waiting', 'active', 'completed', 'failed', 'cancelled'] as const

/** Work on many rows, done by a workflow. Callers see this row. */
const schema = defineEntity({
	name: 'Job',
	tableName: 'jobs',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		type: p.enum(jobTypes),
		state: p.enum(jobStates).default('waiting'),
		/** The target of a bulk job, as the caller gave it. */
		target: p.json<unknown>().nullable(),
		/** Of an import: what its file was called. */
		fileName: p.text().nullable(),
		/** The import that this job undoes. */
		importId: p.uuid().nullable(),
		/** When the job that this one takes back was accepted. null: this takes none back. */
		decidedAt: p.datetime(3).nullable(),
		/** The number of rows or contacts; null until it is known. */
		total: p.integer().nullable(),
		/** How many of them were processed, in stored order. */
		position: p.integer().default(0),
		createdCount: p.integer().default(0),
		changedCount: p.integer().default(0),
		unchangedCount: p.integer().default(0),
		removedCount: p.integer().default(0),
		failedCount: p.integer().default(0),
		failedReason: p.text().nullable(),
		createdAt: createdAt(),
		startedAt: p.datetime(3).nullable(),
		finishedAt: p.datetime(3).nullable(),
	},
	indexes: [
		{ name: 'jobs_imports', properties: ['projectId', 'id'], where: `type = 'import'` },
		{
			name: 'jobs_undo',
			properties: ['projectId', 'importId'],
			where: 'import_id is not null',
		},
		{
			name: 'jobs_unfinished',
			properties: ['createdAt'],
			where: `state in ('waiting', 'active')`,
		},
	],
})

export class Job extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'importId'], 'jobs', 'cascade'),
	]
	static storage = ['set (fillfactor = 50)']
}
schema.setClass(Job)
