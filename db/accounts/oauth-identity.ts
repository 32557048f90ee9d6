import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'

export const oauthProviders = ['github', 'google'] as const

/** An account elsewhere that logs in here, whatever address it has by now. */
const schema = defineEntity({
	name: 'OAuthIdentity',
	tableName: 'oauth_identities',
	indexes: [{ properties: ['userId'] }],
	properties: {
		provider: p.enum(oauthProviders).primary(),
		/** The provider's own name for the account: addresses change hands. */
		subject: p.text().primary(),
		userId: p.uuid(),
		createdAt: createdAt(),
	},
})

export class OAuthIdentity extends schema.class {
	declare [PrimaryKeyProp]?: ['provider', 'subject']
}
schema.setClass(OAuthIdentity)
