import { createHash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Pool, PoolClient } from 'pg'
import { bool, bytes, float, int } from './sql-types.ts'
import { statement } from './statement.ts'

/** The latest tries of a limited action, at most as many as the limit allows. */
const schema = defineEntity({
	name: 'Throttle',
	tableName: 'throttles',
	indexes: [{ properties: ['expiresAt'] }],
	properties: {
		/** A digest of the action and its subject, so that no addresses are stored. */
		key: p.blob().$type<Buffer>().primary(),
		tries: p.array().columnType('timestamptz[]'),
		/** From this time on the row has no effect. */
		expiresAt: p.datetime(3),
	},
})

export class Throttle extends schema.class {
	static storage = ['set (fillfactor = 50)']
}
schema.setClass(Throttle)

/** The limit for one action by one subject: at most this many tries within this many seconds. */
export interface TryLimit {
	what: string
	subject: string
	tries: number
	seconds: number
}

const keyOf = ({ what, subject }: TryLimit) =>
	createHash('sha256').update(`${what} ${subject}`).digest()

/**
 * Counts a try, unless too many are younger than the span; then the oldest of them determines the wait.
 * Concurrent tries take turns at the row.
 */
const countTry = statement('count-try', {
	params: { key: bytes, tries: int, seconds: float },
	row: { counted: bool, waitSeconds: int },
	text: `insert into throttles as t (key, tries, expires_at)
	values ($key, array[clock_timestamp()], now() + make_interval(secs => $seconds::float8))
	on conflict (key) do update set
		tries = case when t.tries[cardinality(t.tries) - $tries::int + 1]
				> clock_timestamp() - make_interval(secs => $seconds::float8) then t.tries
			else (t.tries || clock_timestamp())[greatest(cardinality(t.tries) + 2 - $tries::int,
				1):] end,
		expires_at = excluded.expires_at
	returning old.tries is distinct from new.tries as counted,
		ceil(extract(epoch from new.tries[greatest(cardinality(new.tries) - $tries::int + 1, 1)]
			+ make_interval(secs => $seconds::float8) - clock_timestamp()))::int as "waitSeconds"`,
})

const forgetTries = statement('forget-tries', {
	params: { key: bytes },
	text: `delete from throttles where key = $key`,
})
const takeBackTry = statement('take-back-try', {
	params: { key: bytes },
	text: `update throttles set tries = tries[:cardinality(tries) - 1] where key = $key
		and cardinality(tries) > 0`,
})

/** null: the try is allowed. Otherwise the seconds to wait. */
export async function tryWithin(db: Pool | PoolClient, limit: TryLimit): Promise<number | null> {
	const [row] = await countTry(db, {
		key: keyOf(limit),
		tries: limit.tries,
		seconds: limit.seconds,
	})
	return row!.counted ? null : Math.max(1, row!.waitSeconds)
}

/** After a success: a person who knows or sets their password is no attacker. */
export const forget = (db: Pool | PoolClient, limit: TryLimit) =>
	forgetTries(db, { key: keyOf(limit) })
export const takeBack = (pool: Pool, limit: TryLimit) => takeBackTry(pool, { key: keyOf(limit) })
