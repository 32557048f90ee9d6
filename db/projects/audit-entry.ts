import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'

/** A change that a person made to a project; kept when the project is reset or deleted. */
const schema = defineEntity({
	name: 'AuditEntry',
	tableName: 'audit_entries',
	indexes: [
		{ properties: ['createdAt'] },
		{
			name: 'audit_entries_users',
			properties: ['projectId', 'userId', 'id'],
			where: 'user_id is not null',
		},
		{
			name: 'audit_entries_address',
			expression: (columns, table, name) =>
				`create index ${name} on ${table.name} (${columns.projectId}, (${columns.target} ->> 'email')) where ${columns.target} ->> 'email' is not null`,
		},
	],
	properties: {
		/** The project's public id, without a foreign key, because a reset keeps it. */
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		/** null: a key was used. */
		userId: p.uuid().nullable(),
		/** The user's address at that time, or the masked key. */
		actor: p.text(),
		/** The method and the path's pattern. */
		action: p.text(),
		/** The ids in the path. */
		target: p.json<Record<string, string>>().defaultRaw(`'{}'`),
		status: p.smallint(),
		ip: p.text(),
		userAgent: p.text().nullable(),
		requestId: p.uuid(),
		createdAt: createdAt(),
	},
})

export class AuditEntry extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
}
schema.setClass(AuditEntry)
