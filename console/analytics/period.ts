import { dayParam } from '../parts/day-param.ts'

export const ranges = [7, 30, 90] as const
export const rangeByDefault = 30
export const metrics = [
	{ value: 'opened', name: 'By opens' },
	{ value: 'clicked', name: 'By clicks' },
	{ value: 'sent', name: 'By mails sent' },
] as const

/** The period as it stands in the address: the last days, or own days in the reader's zone. */
export interface PeriodSearch {
	days?: (typeof ranges)[number] | undefined
	from?: string | undefined
	to?: string | undefined
	/** What the campaigns are ranked by. */
	by?: (typeof metrics)[number]['value'] | undefined
}

export const readPeriod = (given: Record<string, unknown>): PeriodSearch => ({
	days: ranges.find((days) => days === Number(given['days'])),
	from: dayParam(given['from']),
	to: dayParam(given['to']),
	by: metrics.find(({ value }) => value === given['by'])?.value,
})

export interface Period {
	/** Both days are included. */
	first: string
	last: string
	count: number
}

export const isOwn = ({ from, to }: PeriodSearch) => from !== undefined || to !== undefined

export function periodOf(search: PeriodSearch): Period {
	const last = search.to ?? today()
	const first = search.from ?? addDays(last, 1 - (search.days ?? rangeByDefault))
	return { first, last, count: countDays(first, last) }
}

const mostDays = 366

/** Why a period has no figures. */
export function problemOf({ count }: Period) {
	if (count < 1) return 'The last day must not be before the first.'
	return count > mostDays ? `A period has at most ${mostDays} days.` : undefined
}

/** As many days, directly before. */
export const before = ({ first, count }: Period): Period => ({
	first: addDays(first, -count),
	last: addDays(first, -1),
	count,
})

/** Whether its figures can still change much. */
export const isCurrent = ({ last }: Period) => last >= today()

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The period in the words of the API. */
export const inquiryOf = ({ first, last }: Period) => ({
	startDate: first,
	endDate: last,
	tz: zone,
})

const dayMs = 86_400_000
const addDays = (day: string, days: number) =>
	new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
const countDays = (first: string, last: string) =>
	1 + (Date.parse(last) - Date.parse(first)) / dayMs

/** Sweden writes dates as ISO 8601 does. */
const today = () => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' }).format(new Date())
