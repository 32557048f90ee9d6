import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'

export const importTypes = ['import', 'undo'] as const
export const bulkTypes = [
	'bulk-subscribe',
	'bulk-unsubscribe',
	'bulk-delete',
	'delete-field',
] as const
export const jobTypes = [...importTypes, ...bulkTypes] as const
export const jobStates = ['waiting', 'active', 'completed', 'failed', 'cancelled'] as const

/** Work on many contacts that a workflow does; this row is what callers see of it. */
const schema = defineEntity({
	name: 'Job',
	tableName: 'jobs',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		type: p.enum(jobTypes),
		state: p.enum(jobStates).default('waiting'),
		/** Whom a bulk job is about, as the caller said it. */
		target: p.json<unknown>().nullable(),
		/** The import that an undo takes back. */
		importId: p.uuid().nullable(),
		/** Rows or contacts it is about; null until that is known. */
		total: p.integer().nullable(),
		/** How many of them it has gone through, in the order in which they were set down. */
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
}
schema.setClass(Job)
