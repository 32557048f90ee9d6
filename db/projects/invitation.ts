import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'

export const invitedRoles = ['MEMBER', 'ADMIN'] as const

/** Somebody without a verified account who may join a project; a later invitation replaces an earlier one. */
const schema = defineEntity({
	name: 'Invitation',
	tableName: 'invitations',
	indexes: [{ properties: ['expiresAt'] }],
	properties: {
		projectId: p.uuid().primary(),
		email: p.text().primary(),
		role: p.enum(invitedRoles),
		/** SHA-256: the token itself is in the mail alone. */
		tokenDigest: p.blob().$type<Buffer>().unique(),
		/** The inviter's address. */
		invitedBy: p.text(),
		expiresAt: p.datetime(3),
		createdAt: createdAt(),
	},
})

export class Invitation extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'email']
}
schema.setClass(Invitation)
