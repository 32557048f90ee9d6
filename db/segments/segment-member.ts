import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { fewPerContact } from '../contacts/few-per-contact.ts'
import { reference } from '../reference.ts'

/**
 * The stored members of a segment: those that callers added to a static one, or those that the last
 * compute found for a tracked one.
 */
const schema = defineEntity({
	name: 'SegmentMember',
	tableName: 'segment_members',
	indexes: [
		{ name: 'segment_members_contact', properties: ['contactId', 'segmentId'] },
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
		/** Only rows with `false` are listed in order of entry. */
		computed: p.boolean(),
		createdAt: createdAt(),
	},
})

export class SegmentMember extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'segmentId', 'contactId']
	static references = [
		reference(['projectId'], 'projects', 'cascade', { isEnforced: false }),
		reference(['projectId', 'contactId'], 'contacts', 'cascade', { isEnforced: false }),
		reference(['projectId', 'segmentId'], 'segments', 'cascade', { isEnforced: false }),
	]
	static storage = [fewPerContact]
}
schema.setClass(SegmentMember)

/**
 * Changes of a segment's stored members since `memberCount` was written, appended by triggers, so that
 * adding members and deleting contacts don't wait for a common count.
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
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'segmentId'], 'segments', 'cascade'),
	]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
tallySchema.setClass(SegmentTally)
