import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { reference } from '../reference.ts'

export const invitedRoles = ['MEMBER', 'ADMIN'] as const

/** An invitation for an address without a verified account. A later invitation replaces an earlier one. */
const schema = defineEntity({
	name: 'Invitation',
	tableName: 'invitations',
	indexes: [{ properties: ['expiresAt'] }],
	properties: {
		projectId: p.uuid().primary(),
		email: p.text().primary(),
		/** By which the API names it. */
		id: p.uuid().unique().defaultRaw('uuidv7()'),
		role: p.enum(invitedRoles),
		/** SHA-256: only the mail contains the token itself. */
		tokenDigest: p.blob().$type<Buffer>().unique(),
		/** The inviter's address. */
		invitedBy: p.text(),
		expiresAt: p.datetime(3),
		createdAt: createdAt(),
	},
})

export class Invitation extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'email']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(Invitation)
