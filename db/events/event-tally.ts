import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

// The number of a project's events per name and UTC day, without a row that all writers wait for. A
// trigger appends the events that each statement inserted or deleted to event_tallies, and now and then
// one of these statements also folds the project's tallies into event_counts. The sum of both is always
// exact, and part of the events' transaction.

const tallySchema = defineEntity({
	name: 'EventTally',
	tableName: 'event_tallies',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		name: p.text(),
		day: p.date(),
		count: p.bigint('number'),
	},
})

export class EventTally extends tallySchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade', { isEnforced: false })]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
tallySchema.setClass(EventTally)

const countSchema = defineEntity({
	name: 'EventCount',
	tableName: 'event_counts',
	// For the counts of a period.
	indexes: [{ name: 'event_counts_by_day', properties: ['projectId', 'day'] }],
	properties: {
		projectId: p.uuid().primary(),
		name: p.text().primary(),
		day: p.date().primary(),
		count: p.bigint('number'),
	},
})

export class EventCount extends countSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'name', 'day']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
countSchema.setClass(EventCount)
