import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

// How many events of a name a project has had on each UTC day, without a row that everybody waits for:
// a trigger appends what each statement inserted or deleted to event_tallies, and one in some hundred
// of these statements also folds the project's tallies into event_counts. The sum of both is exact at
// any time, and part of the same transaction as the events.

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
}
tallySchema.setClass(EventTally)

const countSchema = defineEntity({
	name: 'EventCount',
	tableName: 'event_counts',
	properties: {
		projectId: p.uuid().primary(),
		name: p.text().primary(),
		day: p.date().primary(),
		count: p.bigint('number'),
	},
})

export class EventCount extends countSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'name', 'day']
}
countSchema.setClass(EventCount)
