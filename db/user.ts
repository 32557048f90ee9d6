import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, updatedAt } from './columns.ts'

const schema = defineEntity({
	name: 'User',
	tableName: 'users',
	properties: {
		id: id(),
		email: p.text().unique(),
		/** A PHC string of argon2id; null for those who only come by OAuth. */
		passwordHash: p.text().nullable(),
		emailVerifiedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class User extends schema.class {}
schema.setClass(User)
