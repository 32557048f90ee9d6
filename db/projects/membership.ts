import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { reference } from '../reference.ts'

export const roles = ['MEMBER', 'ADMIN', 'OWNER'] as const

const schema = defineEntity({
	name: 'Membership',
	tableName: 'memberships',
	indexes: [{ properties: ['userId'] }],
	properties: {
		projectId: p.uuid().primary(),
		userId: p.uuid().primary(),
		role: p.enum(roles).default('MEMBER'),
		createdAt: createdAt(),
	},
})

export class Membership extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'userId']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['userId'], 'users', 'cascade'),
	]
}
schema.setClass(Membership)
