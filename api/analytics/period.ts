import Type from 'typebox'
import { ApiError } from '../errors.ts'

const day = /^\d{4}-\d{2}-\d{2}$/
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/
const dayMs = 86_400_000

const description = 'A date (a whole UTC day) or a date and time in ISO 8601'
/** The query of routes about a period; `readPeriod` reads it. */
export const Period = {
	startDate: Type.Optional(Type.String({ description })),
	endDate: Type.Optional(Type.String({ description })),
}

/** The first and the last moment; null is open. The last day is included in full. */
export function readPeriod({ startDate, endDate }: { startDate?: string; endDate?: string }) {
	const start = startDate === undefined ? null : readDate(startDate, 'startDate')
	const end = endDate === undefined ? null : readDate(endDate, 'endDate')
	if (end && isDay(endDate!)) end.setTime(end.getTime() + dayMs - 1)
	if (start && end && start > end) throw badDate('endDate', 'must not be before startDate')
	return { start, end }
}

/** Whether the text is a date without a time. */
export const isDay = (text: string) => day.test(text)

/** The time, or the start of the UTC day. */
export function readDate(text: string, field: string) {
	const isLocal = !isDay(text) && !/(Z|[+-]\d{2}:?\d{2})$/.test(text)
	const date = new Date(isLocal ? `${text}Z` : text)
	const isReal = isDay(text) || moment.test(text) ? !Number.isNaN(date.getTime()) : false
	// The 30th of February would pass as the 2nd of March.
	if (isReal && new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10))) return date
	throw badDate(field, 'must be a date or a date and time in ISO 8601')
}

export const badDate = (field: string, message: string) =>
	new ApiError(400, 'BAD_REQUEST', `${field} ${message}`, {
		errors: [{ field, message, code: 'invalid_string' }],
		suggestion: 'Write 2026-01-31 or 2026-01-31T12:00:00Z.',
	})
