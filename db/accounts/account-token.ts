import { defineEntity, p } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { statement } from '../statement.ts'

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

export type TokenPurpose = (typeof tokenPurposes)[number]

/** $1 digest, $2 user, $3 purpose, $4 seconds */
export const keepToken = statement(
	'keep-token',
	`insert into account_tokens (digest, user_id, purpose, expires_at)
	values ($1, $2::uuid, $3, now() + make_interval(secs => $4::float8))`,
)

/** Of two who come with the same token one gets a row. $1 digest, $2 purpose */
export const spendToken = statement<{ userId: string }>(
	'spend-token',
	`delete from account_tokens where digest = $1 and purpose = $2 and expires_at > now()
	returning user_id as "userId"`,
)
