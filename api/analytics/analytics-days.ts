import type { Pool } from 'pg'
import Type from 'typebox'
import { timeZoneNamed } from '../../db/time-zone.ts'
import { ApiError } from '../errors.ts'
import { badDate, isDay, readDate } from './period.ts'

const dayMs = 86_400_000
const mostDays = 366
const earliest = new Date('1970-01-01')
const latest = new Date('2999-12-31')
const daysByDefault = 30

const description = 'A date, or a time, which means its day in the time zone'
/** The query of routes about days; `readDays` reads it. */
export const Days = {
	startDate: Type.Optional(Type.String({ description })),
	endDate: Type.Optional(Type.String({ description })),
	tz: Type.String({ default: 'UTC', description: 'An IANA time zone, such as Europe/Berlin' }),
}

interface DaysQuery {
	startDate?: string
	endDate?: string
	tz: string
}

/** The first and last day, both whole, in a time zone: 30 days until today by default. */
export async function readDays(pool: Pool, { startDate, endDate, tz }: DaysQuery) {
	const zone = await knownZone(pool, tz)
	const last = endDate === undefined ? dayIn(zone, new Date()) : dayOf(endDate, 'endDate', zone)
	const first =
		startDate === undefined ? addDays(last, 1 - daysByDefault) : dayOf(startDate, 'startDate', zone)
	const count = 1 + (Date.parse(last) - Date.parse(first)) / dayMs
	if (count < 1)
		throw endDate === undefined
			? badDate('startDate', 'must not be in the future without an endDate')
			: badDate('endDate', 'must not be before startDate')
	if (count > mostDays)
		throw badDate('startDate', `must not be more than ${mostDays - 1} days before the last day`)
	return { firstDay: first, lastDay: last, timeZone: zone }
}

function dayOf(text: string, field: string, zone: string) {
	const date = readDate(text, field)
	// There is no data outside this range, and years with one or five digits cause errors.
	if (date < earliest || date > latest) throw badDate(field, 'must be between 1970 and 2999')
	return isDay(text) ? text : dayIn(zone, date)
}

const addDays = (day: string, days: number) =>
	new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)

/** Sweden writes dates as ISO 8601 does. */
const dayIn = (timeZone: string, date: Date) =>
	new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(date)

/** A look-up reads all time zones. Only existing ones are cached. */
const zones = new Map<string, string>([['utc', 'UTC']])

async function knownZone(pool: Pool, given: string) {
	const zone = zones.get(given.toLowerCase()) ?? (await timeZoneNamed(pool, given))
	if (zone === undefined)
		throw new ApiError(400, 'BAD_REQUEST', `There is no time zone ${given.slice(0, 100)}`, {
			errors: [
				{
					field: 'tz',
					message: 'must be an IANA time zone',
					code: 'invalid_string',
					received: given,
				},
			],
			suggestion: 'Write UTC, Europe/Berlin or America/New_York.',
		})
	zones.set(given.toLowerCase(), zone)
	return zone
}
