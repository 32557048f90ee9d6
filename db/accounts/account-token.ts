import { defineEntity, p } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { reference } from '../reference.ts'
import { bytes, float, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

export const tokenPurposes = ['VERIFY_EMAIL', 'RESET_PASSWORD', 'LOG_IN'] as const

/**
 * A link in one of our mails, or of the terminal of `npm start` (LOG_IN), valid for one purpose and one use.
 */
const schema = defineEntity({
	name: 'AccountToken',
	tableName: 'account_tokens',
	indexes: [{ properties: ['userId'] }, { properties: ['expiresAt'] }],
	properties: {
		/** SHA-256: only the link contains the token itself. */
		digest: p.blob().$type<Buffer>().primary(),
		userId: p.uuid(),
		purpose: p.enum(tokenPurposes),
		expiresAt: p.datetime(3),
		createdAt: createdAt(),
	},
})

export class AccountToken extends schema.class {
	static references = [reference(['userId'], 'users', 'cascade')]
}
schema.setClass(AccountToken)

export type TokenPurpose = (typeof tokenPurposes)[number]

export const keepToken = statement('keep-token', {
	params: { digest: bytes, userId: uuid, purpose: text, seconds: float },
	text: `insert into account_tokens (digest, user_id, purpose, expires_at)
	values ($digest, $userId::uuid, $purpose, now() + make_interval(secs => $seconds::float8))`,
})

/** If two requests use the same token, only one gets a row. */
export const spendToken = statement('spend-token', {
	params: { digest: bytes, purpose: text },
	row: { userId: uuid },
	text: `delete from account_tokens where digest = $digest and purpose = $purpose
		and expires_at > now()
	returning user_id as "userId"`,
})
