import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { disabledReasons } from '../projects/project.ts'

/** A project that was disabled by us, and whether it still is. */
const schema = defineEntity({
	name: 'Suspension',
	tableName: 'suspensions',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		at: p.datetime(3).defaultRaw('now()'),
		reason: p.enum(disabledReasons),
		/** Of a bad reputation: what made it so. */
		signal: p.enum(['bounces', 'complaints'] as const).nullable(),
		liftedAt: p.datetime(3).nullable(),
		/** When the members' mails were queued. */
		toldAt: p.datetime(3).nullable(),
	},
})

export class Suspension extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
}
schema.setClass(Suspension)

// Mails, permanent bounces and complaints of each hour, without a row that everybody waits for:
// `heed_mail_events` appends to the tallies what each statement's events come to, and now and then
// folds them into the counts. The sum of both is exact at any time.

const counts = {
	/** Sent, or refused for its address when it was handed over. */
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
}
countSchema.setClass(ReputationCount)
