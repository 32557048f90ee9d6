import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/** A deleted segment, kept until housekeeping has deleted its stored members. */
const schema = defineEntity({
	name: 'RemovedSegment',
	tableName: 'removed_segments',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary(),
	},
})

export class RemovedSegment extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(RemovedSegment)
