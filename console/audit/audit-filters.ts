import { dayParam, momentsOf } from '../parts/day-param.ts'

/** The filters of the audit log, as they stand in its address. */
export interface AuditFilters {
	/** `people`, `keys`, or the id of a member. */
	who?: string | undefined
	/** Days in the reader's zone. */
	from?: string | undefined
	to?: string | undefined
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export const readAuditFilters = ({ who, from, to }: Record<string, unknown>): AuditFilters => ({
	who: textLike(who, /^(people|keys)$/) ?? textLike(who, uuid),
	from: dayParam(from),
	to: dayParam(to),
})

const textLike = (value: unknown, form: RegExp) =>
	typeof value === 'string' && form.test(value) ? value : undefined

/** The filters in the words of the API. */
export const inquiryOf = ({ who, from, to }: AuditFilters) => ({
	...(who === 'people'
		? { by: 'user' as const }
		: who === 'keys'
			? { by: 'key' as const }
			: { userId: who }),
	...momentsOf(from, to),
})
