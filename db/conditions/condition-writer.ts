import { sql, type Sql } from '../sql.ts'
import { float, timestamp, type Value } from '../sql-types.ts'
import type { Filter, Operator, Unit } from './condition.ts'

const unitSeconds: Record<Unit, number> = { minutes: 60, hours: 3600, days: 86_400 }
/** Some 3,000 years: longer than any real age, and still within Postgres' range. */
const longestSeconds = 1e11

/** The time that lies a filter's amount of time before now, or before the given time. */
export function ago({ value: amount, unit }: Filter, now?: Date) {
	const seconds = Math.min(Number(amount) * unitSeconds[unit!], longestSeconds)
	const moment = now ? sql`${timestamp.value(now)}` : sql`now()`
	return sql`${moment} - make_interval(secs => ${float.value(seconds)})`
}

/** Adds twenty-four hours, because a day may be longer or shorter in the session's time zone. */
export const onDay = (stored: Sql, midnight: Value) =>
	sql`(${stored} >= ${midnight} and ${stored} < ${midnight} + interval '24 hours')`

export const comparators: Partial<Record<Operator, Sql>> = {
	greaterThan: sql`>`,
	lessThan: sql`<`,
	greaterThanOrEqual: sql`>=`,
	lessThanOrEqual: sql`<=`,
}
