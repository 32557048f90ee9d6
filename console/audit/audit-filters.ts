/** The filters of the audit log, as they stand in its address. */
export interface AuditFilters {
	/** `people`, `keys`, or the id of a member. */
	who?: string | undefined
	/** Days in the reader's zone. */
	from?: string | undefined
	to?: string | undefined
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const day = /^\d{4}-\d\d-\d\d$/

export const readAuditFilters = ({ who, from, to }: Record<string, unknown>): AuditFilters => ({
	who: textLike(who, /^(people|keys)$/) ?? textLike(who, uuid),
	from: textLike(from, day),
	to: textLike(to, day),
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
	from: from && new Date(`${from}T00:00:00`).toISOString(),
	to: to && new Date(`${to}T23:59:59.999`).toISOString(),
})
