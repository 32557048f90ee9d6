import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'

/**
 * Who is stored to be in a segment: what callers put into a static one, and what the last compute found
 * for one that is tracked.
 */
const schema = defineEntity({
	name: 'SegmentMember',
	tableName: 'segment_members',
	indexes: [
		{ name: 'segment_members_contact', properties: ['projectId', 'contactId', 'segmentId'] },
		{
			name: 'segment_members_newest',
			properties: ['projectId', 'segmentId', 'createdAt', 'contactId'],
			where: 'not computed',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		segmentId: p.uuid().primary(),
		contactId: p.uuid().primary(),
		/** Only the others are ever listed by their entry. */
		computed: p.boolean(),
		createdAt: createdAt(),
	},
})

export class SegmentMember extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'segmentId', 'contactId']
}
schema.setClass(SegmentMember)

/**
 * By how much a segment's stored members have changed since `memberCount` was written, appended by
 * triggers: whoever adds members, or deletes contacts that are some, waits for nobody's count.
 */
const tallySchema = defineEntity({
	name: 'SegmentTally',
	tableName: 'segment_tallies',
	properties: {
		projectId: p.uuid().primary(),
		segmentId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		change: p.integer(),
	},
})

export class SegmentTally extends tallySchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'segmentId', 'id']
}
tallySchema.setClass(SegmentTally)
