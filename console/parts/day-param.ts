const form = /^\d{4}-\d\d-\d\d$/

/** A day from the address, such as `2026-11-24`. */
export const dayParam = (given: unknown) =>
	typeof given === 'string' && form.test(given) && !Number.isNaN(Date.parse(given))
		? given
		: undefined

/** The first and the last moment of days in the reader's zone, in the words of the API. */
export const momentsOf = (from: string | undefined, to: string | undefined) => ({
	from: from && new Date(`${from}T00:00:00`).toISOString(),
	to: to && new Date(`${to}T23:59:59.999`).toISOString(),
})
