// Dates in custom data and in conditions: ISO 8601, where a day alone means its midnight, and a time
// without an offset is UTC. `iso_time` of iso-time.sql is the same in SQL.
const form =
	/^(\d{4})-(\d\d)-(\d\d)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4]):?[0-5]\d)?)?$/

/** The same time in a form that Postgres reads regardless of its settings; undefined if it is no date. */
export function isoTime(text: string): string | undefined {
	const found = form.exec(text)
	if (!found) return undefined
	const [, year, month, day, time, , , , offset] = found
	if (Number(year) === 0 || !isDay(Number(year), Number(month), Number(day))) return undefined
	if (time === undefined) return `${text}T00:00:00Z`
	return offset === undefined ? `${text}Z` : text
}

export const isDayAlone = (text: string) => text.length === 10 && isoTime(text) !== undefined

/** A time of RFC 3339 that `Date` and Postgres read alike. Neither reads all of them: no leap second, no year 0. */
export function isDateTime(text: string) {
	if (text.length > 40) return false
	const usual = text.toUpperCase().replace(' ', 'T')
	const hasSeconds = usual[16] === ':'
	// Only a time that has its zone is returned unchanged.
	return hasSeconds && isoTime(usual) === usual
}

function isDay(year: number, month: number, day: number) {
	const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
	const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
	return days !== undefined && day >= 1 && day <= days
}
