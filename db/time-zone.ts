import type { Pool, PoolClient } from 'pg'
import { text } from './sql-types.ts'
import { statement } from './statement.ts'

/** Reads all time zones, so it is only for settings that rarely change. */
const zoneNamed = statement('time-zone', {
	params: { name: text },
	row: { name: text.notNull('the view does not say so') },
	text: `select name from pg_timezone_names where lower(name) = lower($name::text)`,
})

/**
 * An IANA time zone in its canonical spelling, for input in any case: Temporal uses the same list, but is
 * case-sensitive. A zone must be known to both Postgres, which may know more than the list, and Intl,
 * which also accepts offsets.
 */
export async function timeZoneNamed(db: Pool | PoolClient, given: string) {
	if (!/^[a-z][\w+/-]{1,63}$/i.test(given) || !isKnown(given)) return undefined
	const [zone] = await zoneNamed(db, { name: given })
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
