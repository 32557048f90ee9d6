import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { disabledReasons } from '../projects/project.ts'
import { reference } from '../reference.ts'

/** A suspension of a project, and whether it still applies. */
const schema = defineEntity({
	name: 'Suspension',
	tableName: 'suspensions',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		at: p.datetime(3).defaultRaw('now()'),
		reason: p.enum(disabledReasons),
		/** For a bad reputation: its cause. */
		signal: p.enum(['bounces', 'complaints'] as const).nullable(),
		liftedAt: p.datetime(3).nullable(),
		/** When the members' mails were queued. */
		toldAt: p.datetime(3).nullable(),
	},
})

export class Suspension extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(Suspension)

// Mails, permanent bounces and complaints per hour, without a row that all writers wait for.
// `suppress_and_judge` appends each statement's events to the tallies, and now and then folds them into
// the counts. The sum of both is always exact.

const counts = {
	/** Sent, or refused for its address at the hand-over. */
	total: p.bigint('number'),
	bounces: p.bigint('number'),
	complaints: p.bigint('number'),
}

const tallySchema = defineEntity({
	name: 'ReputationTally',
	tableName: 'reputation_tallies',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		hour: p.datetime(3),
		...counts,
	},
})

export class ReputationTally extends tallySchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade', { isEnforced: false })]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
tallySchema.setClass(ReputationTally)

const countSchema = defineEntity({
	name: 'ReputationCount',
	tableName: 'reputation_counts',
	properties: {
		projectId: p.uuid().primary(),
		hour: p.datetime(3).primary(),
		...counts,
	},
})

export class ReputationCount extends countSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'hour']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
countSchema.setClass(ReputationCount)
