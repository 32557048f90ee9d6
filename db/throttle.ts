import { createHash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Pool, PoolClient } from 'pg'
import { statement } from './statement.ts'

/** The latest tries of something that may not be tried often, at most as many as are allowed. */
const schema = defineEntity({
	name: 'Throttle',
	tableName: 'throttles',
	indexes: [{ properties: ['expiresAt'] }],
	properties: {
		/** A digest of what is tried and by whom: addresses are nobody's business here. */
		key: p.blob().$type<Buffer>().primary(),
		tries: p.array().columnType('timestamptz[]'),
		/** From then on the row says nothing any more. */
		expiresAt: p.datetime(3),
	},
})

export class Throttle extends schema.class {}
schema.setClass(Throttle)

/** At most so many tries of one thing by one subject within any span of so many seconds. */
export interface TryLimit {
	what: string
	subject: string
	tries: number
	seconds: number
}

const keyOf = ({ what, subject }: TryLimit) =>
	createHash('sha256').update(`${what} ${subject}`).digest()

/**
 * Counts a try, unless too many are younger than the span: then the oldest of them says how long to
 * wait. Concurrent tries take turns at the row. $1 key, $2 tries, $3 seconds
 */
const countTry = statement<{ counted: boolean; waitSeconds: number }>(
	'count-try',
	`insert into throttles as t (key, tries, expires_at)
	values ($1, array[clock_timestamp()], now() + make_interval(secs => $3::float8))
	on conflict (key) do update set
		tries = case when t.tries[cardinality(t.tries) - $2::int + 1]
				> clock_timestamp() - make_interval(secs => $3::float8) then t.tries
			else (t.tries || clock_timestamp())[greatest(cardinality(t.tries) + 2 - $2::int, 1):] end,
		expires_at = excluded.expires_at
	returning old.tries is distinct from new.tries as counted,
		ceil(extract(epoch from new.tries[greatest(cardinality(new.tries) - $2::int + 1, 1)]
			+ make_interval(secs => $3::float8) - clock_timestamp()))::int as "waitSeconds"`,
)

const forgetTries = statement('forget-tries', `delete from throttles where key = $1`)
const takeBackTry = statement(
	'take-back-try',
	`update throttles set tries = tries[:cardinality(tries) - 1] where key = $1 and cardinality(tries) > 0`,
)

/** null: it may be tried. Otherwise the seconds after which it may. */
export async function tryWithin(db: Pool | PoolClient, limit: TryLimit): Promise<number | null> {
	const [row] = await countTry(db, [keyOf(limit), limit.tries, limit.seconds])
	return row!.counted ? null : Math.max(1, row!.waitSeconds)
}

/** After a success: those who know their password are no attackers. */
export const forget = (pool: Pool, limit: TryLimit) => forgetTries(pool, [keyOf(limit)])
export const takeBack = (pool: Pool, limit: TryLimit) => takeBackTry(pool, [keyOf(limit)])
