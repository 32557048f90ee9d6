import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import type { Condition } from '../conditions/condition.ts'
import { reference } from '../reference.ts'

export const segmentTypes = ['DYNAMIC', 'STATIC'] as const

export const segmentSchema = defineEntity({
	name: 'Segment',
	tableName: 'segments',
	uniques: [{ properties: ['projectId', 'id'] }],
	indexes: [{ name: 'segments_due', properties: ['sweepAt', 'id'], where: 'sweep_at is not null' }],
	properties: {
		id: id(),
		projectId: projectId(),
		name: p.text(),
		description: p.text().nullable(),
		type: p.enum(segmentTypes).default('DYNAMIC'),
		condition: p.json<Condition>().nullable(),
		trackMembership: p.boolean().default(false),
		/** For stored members: the count without the changes in `segment_tallies`. */
		memberCount: p.integer().default(0),
		/** The stored members include all changes up to this time; null: a full compute is needed. */
		computedUntil: p.datetime(3).nullable(),
		/** When every contact was last read, changed or not. */
		computedFullyAt: p.datetime(3).nullable(),
		/** The time of the next sweep of this segment; null if there is nothing to compute. */
		sweepAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Segment extends segmentSchema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
segmentSchema.setClass(Segment)
