import type { Pool } from 'pg'
import { bytes, float, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { newSecretToken, tokenDigest } from './secret-token.ts'

const loginSeconds = 24 * 60 * 60

/** One statement, so that there is always at most one link for the owner. No row: there is no owner. */
const replaceLoginToken = statement('replace-login-token', {
	params: { publicId: uuid, digest: bytes, seconds: float },
	row: { userId: uuid },
	text: `with owner as (
		select m.user_id from projects p join memberships m on m.project_id = p.id
		where p.public_id = $publicId and m.role = 'OWNER'
	), gone as (
		delete from account_tokens t using owner where t.user_id = owner.user_id and t.purpose = 'LOG_IN'
	)
	insert into account_tokens (digest, user_id, purpose, expires_at)
	select $digest::bytea, user_id, 'LOG_IN', now() + make_interval(secs => $seconds::float8) from owner
	returning user_id as "userId"`,
})

/** A token that logs the project's owner in once, for a day. It replaces earlier ones. */
export async function newLoginToken(pool: Pool, publicId: string) {
	const token = newSecretToken()
	const values = { publicId, digest: tokenDigest(token), seconds: loginSeconds }
	const [kept] = await replaceLoginToken(pool, values)
	return kept && token
}
