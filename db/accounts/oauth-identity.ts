import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { reference } from '../reference.ts'

export const oauthProviders = ['github', 'google'] as const

/** An account at an OAuth provider that may log in here, whatever its current address. */
const schema = defineEntity({
	name: 'OAuthIdentity',
	tableName: 'oauth_identities',
	indexes: [{ properties: ['userId'] }],
	properties: {
		provider: p.enum(oauthProviders).primary(),
		/** The provider's id for the account, because an address may change owners. */
		subject: p.text().primary(),
		userId: p.uuid(),
		createdAt: createdAt(),
	},
})

export class OAuthIdentity extends schema.class {
	declare [PrimaryKeyProp]?: ['provider', 'subject']
	static references = [reference(['userId'], 'users', 'cascade')]
}
schema.setClass(OAuthIdentity)
