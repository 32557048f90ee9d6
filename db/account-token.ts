import { defineEntity, p } from '@mikro-orm/core'
import { createdAt } from './columns.ts'

export const tokenPurposes = ['VERIFY_EMAIL', 'RESET_PASSWORD'] as const

/** A link in a mail of ours that is good for one thing, once. */
const schema = defineEntity({
	name: 'AccountToken',
	tableName: 'account_tokens',
	indexes: [{ properties: ['userId'] }, { properties: ['expiresAt'] }],
	properties: {
		/** SHA-256: the token itself is in the mail alone. */
		digest: p.blob().$type<Buffer>().primary(),
		userId: p.uuid(),
		purpose: p.enum(tokenPurposes),
		expiresAt: p.datetime(3),
		createdAt: createdAt(),
	},
})

export class AccountToken extends schema.class {}
schema.setClass(AccountToken)
