import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import type { Condition } from '../conditions/condition.ts'

export const segmentTypes = ['DYNAMIC', 'STATIC'] as const

const schema = defineEntity({
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
		/** To which what `segment_tallies` holds is to be added, where members are stored. */
		memberCount: p.integer().default(0),
		/** All that was written until then is in the stored membership; null: it needs a full compute. */
		computedUntil: p.datetime(3).nullable(),
		/** When every contact was last looked at, whether or not it seemed to have changed. */
		computedFullyAt: p.datetime(3).nullable(),
		/** When the sweep takes it next; null where there is nothing to compute. */
		sweepAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Segment extends schema.class {}
schema.setClass(Segment)
