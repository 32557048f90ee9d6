import type { Pool, PoolClient } from 'pg'
import { statement } from './statement.ts'

/** Reads all zones there are: for what is rarely written. $1 name */
const zoneNamed = statement<{ name: string }>(
	'time-zone',
	`select name from pg_timezone_names where lower(name) = lower($1::text)`,
)

/**
 * An IANA time zone as it is spelled, whatever the case it is given in: Temporal, which has the same
 * list, minds the case. Postgres may know more than the list, and Intl takes offsets: it must be in both.
 */
export async function timeZoneNamed(db: Pool | PoolClient, given: string) {
	if (!/^[a-z][\w+/-]{1,63}$/i.test(given) || !isKnown(given)) return undefined
	const [zone] = await zoneNamed(db, [given])
	return zone?.name
}

function isKnown(timeZone: string) {
	try {
		new Intl.DateTimeFormat('en', { timeZone }).format()
		return true
	} catch {
		return false
	}
}
