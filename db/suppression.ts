import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from './columns.ts'

export const suppressionReasons = ['BOUNCE', 'COMPLAINT', 'MANUAL', 'UNSUBSCRIBED_ALL'] as const

const schema = defineEntity({
	name: 'Suppression',
	tableName: 'suppressions',
	properties: {
		projectId: p.uuid().primary(),
		email: p.text().primary(),
		reason: p.enum(suppressionReasons),
		emailId: p.uuid().nullable(),
		createdAt: createdAt(),
	},
})

export class Suppression extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'email']
}
schema.setClass(Suppression)
